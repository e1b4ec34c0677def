# A match that is over before it begins, in the form that cgarena and psyleague
# both read. It starts no bot.
echo '{"ranks": [0, 1], "errors": [0, 0], "attributes": [], "test_data": {}, "player_data": [{}, {}]}'
