{{/* Prefix of all names: that of the release. */}}
{{- define "arena.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels of an object; the argument is a list of the root and its part. */}}
{{- define "arena.labels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "arena.name" $root }}-{{ index . 1 }}
app.kubernetes.io/part-of: arena
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ $root.Chart.Name }}-{{ $root.Chart.Version }}
{{- end -}}

{{/* Labels that select pods. */}}
{{- define "arena.selector" -}}
app.kubernetes.io/name: {{ include "arena.name" (index . 0) }}-{{ index . 1 }}
{{- end -}}

{{- define "arena.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* Pod security: the level `restricted`. */}}
{{- define "arena.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "arena.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* The Secret of the workers' metrics. The token of metricsSecret reads what a viewer reads. */}}
{{- define "arena.workerMetricsSecret" -}}
{{- $secret := .Values.worker.metricsSecret | default .Values.metricsSecret -}}
{{- if eq $secret .Values.metricsSecret -}}
{{- fail "worker.metricsSecret: name a Secret other than metricsSecret, with a token that the coordinator refuses" -}}
{{- end -}}
{{- $secret -}}
{{- end -}}

{{/* Where pods run. */}}
{{- define "arena.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
