from arena.v1 import access_pb2 as _access_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TokenInfo(_message.Message):
    __slots__ = ("id", "label", "role", "created_unix_us", "expires_unix_us", "uses", "used", "revoked", "limits")
    ID_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CREATED_UNIX_US_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_UNIX_US_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    USES_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    REVOKED_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    id: str
    label: str
    role: _access_pb2.Role
    created_unix_us: int
    expires_unix_us: int
    uses: int
    used: int
    revoked: bool
    limits: TokenLimits
    def __init__(self, id: _Optional[str] = ..., label: _Optional[str] = ..., role: _Optional[_Union[_access_pb2.Role, str]] = ..., created_unix_us: _Optional[int] = ..., expires_unix_us: _Optional[int] = ..., uses: _Optional[int] = ..., used: _Optional[int] = ..., revoked: bool = ..., limits: _Optional[_Union[TokenLimits, _Mapping]] = ..., **kwargs) -> None: ...

class TokenLimits(_message.Message):
    __slots__ = ("agents", "tournaments", "games", "upload_bytes", "streams", "requests_per_second")
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    TOURNAMENTS_FIELD_NUMBER: _ClassVar[int]
    GAMES_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_BYTES_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    agents: int
    tournaments: int
    games: int
    upload_bytes: int
    streams: int
    requests_per_second: int
    def __init__(self, agents: _Optional[int] = ..., tournaments: _Optional[int] = ..., games: _Optional[int] = ..., upload_bytes: _Optional[int] = ..., streams: _Optional[int] = ..., requests_per_second: _Optional[int] = ...) -> None: ...

class CreateTokenRequest(_message.Message):
    __slots__ = ("token", "ttl_seconds")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    TTL_SECONDS_FIELD_NUMBER: _ClassVar[int]
    token: TokenInfo
    ttl_seconds: int
    def __init__(self, token: _Optional[_Union[TokenInfo, _Mapping]] = ..., ttl_seconds: _Optional[int] = ...) -> None: ...

class CreateTokenResponse(_message.Message):
    __slots__ = ("token", "text")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    token: TokenInfo
    text: str
    def __init__(self, token: _Optional[_Union[TokenInfo, _Mapping]] = ..., text: _Optional[str] = ...) -> None: ...

class ListTokensRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListTokensResponse(_message.Message):
    __slots__ = ("tokens",)
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    tokens: _containers.RepeatedCompositeFieldContainer[TokenInfo]
    def __init__(self, tokens: _Optional[_Iterable[_Union[TokenInfo, _Mapping]]] = ...) -> None: ...

class RevokeTokenRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class RevokeTokenResponse(_message.Message):
    __slots__ = ("token",)
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: TokenInfo
    def __init__(self, token: _Optional[_Union[TokenInfo, _Mapping]] = ...) -> None: ...

class ListEventsRequest(_message.Message):
    __slots__ = ("since_unix_us",)
    SINCE_UNIX_US_FIELD_NUMBER: _ClassVar[int]
    since_unix_us: int
    def __init__(self, since_unix_us: _Optional[int] = ...) -> None: ...

class ListEventsResponse(_message.Message):
    __slots__ = ("line",)
    LINE_FIELD_NUMBER: _ClassVar[int]
    line: str
    def __init__(self, line: _Optional[str] = ...) -> None: ...
