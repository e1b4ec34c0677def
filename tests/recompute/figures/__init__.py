"""Every number of the standings, from exported records by services/tournament/README.md."""
