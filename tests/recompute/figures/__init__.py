"""Every number of the standings, from exported records and services/tournament/README.md."""
