/* Arena's line protocol for agents, version 1, with the C library alone (C99 and POSIX).
 *
 * arena_serve answers until the end of standard input. What the policy prints goes to standard
 * error. Include this file once, in the file with main. */
#ifndef ARENA_H
#define ARENA_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GNUC__
#define ARENA_API static __attribute__((unused))
#else
#define ARENA_API static
#endif

/* A value of JSON. Numbers that can exceed 2^53 are texts in the protocol. */
typedef enum { ARENA_NULL, ARENA_BOOL, ARENA_NUMBER, ARENA_TEXT, ARENA_LIST, ARENA_OBJECT } arena_kind;

typedef struct arena_value {
    arena_kind kind;
    double number;             /* of a number; 1 for true */
    const char *text;          /* of a text */
    const char *name;          /* of a field of an object */
    size_t length;             /* number of elements or fields */
    struct arena_value *first; /* the first element or field */
    struct arena_value *next;  /* the next element or field of the same list or object */
    struct arena_value **all;  /* the elements of a list */
} arena_value;

/* A request for a move. options and bot_options are objects of texts. */
typedef struct {
    const char *ruleset;
    long rules_version;
    const arena_value *options;
    long seats;
    const char *bot;
    const arena_value *bot_options;
    uint64_t nodes;          /* positions that the bot may search; 0: no limit */
    uint64_t time_budget_us; /* for the whole batch; 0: no limit */
    long seat;
    long number;
    uint64_t seed;           /* new for each decision */
    size_t moves;            /* number of legal moves */
    const long *legal_moves;
    const char **notations;  /* NULL with omit_move_details */
    const arena_value *position;
    const arena_value *clock;  /* NULL: there is no clock */
    const arena_value *fields; /* all fields, as in the protocol */
    uint64_t rng;            /* state of the random numbers, which follow from the seed */
} arena_decision;

/* An option. type: bool, integer, real, choice, text or numbers. more: further fields of the
 * protocol as JSON, such as "\"choices\":[\"a\",\"b\"]". */
typedef struct {
    const char *name, *type, *default_value, *summary, *min, *max, *more;
} arena_option;

/* The agent's description. options ends with an entry without a name, rulesets with NULL; NULL: all
 * rulesets. more: further fields of the message hello, such as "\"omit_move_details\":true". */
typedef struct {
    const char *name, *version, *author, *summary;
    bool deterministic;
    const char *uses_seed; /* "yes" or "no" */
    const char *const *rulesets;
    const arena_option *options;
    const char *more;
} arena_about;

typedef long (*arena_policy)(arena_decision *);

static jmp_buf arena_failed;
static char arena_message[512];

/* Ends the policy: Arena asks the decisions of the batch again, one at a time. */
ARENA_API void arena_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(arena_message, sizeof arena_message, format, arguments);
    va_end(arguments);
    longjmp(arena_failed, 1);
}

/* ---- Reading values ---- */

/* The field of an object; NULL if there is none. */
ARENA_API const arena_value *arena_get(const arena_value *object, const char *name) {
    if (!object || object->kind != ARENA_OBJECT) return NULL;
    for (const arena_value *field = object->first; field; field = field->next)
        if (!strcmp(field->name, name)) return field;
    return NULL;
}

/* The element of a list; NULL if there is none. */
ARENA_API const arena_value *arena_at(const arena_value *list, size_t index) {
    return list && list->kind == ARENA_LIST && index < list->length ? list->all[index] : NULL;
}

/* The value as a number, also if it is a text; 1 for true; 0 if it is nothing of these. */
ARENA_API double arena_value_number(const arena_value *value) {
    if (!value) return 0;
    return value->kind == ARENA_TEXT ? strtod(value->text, NULL) : value->number;
}

/* The field of an object as a number, in the same way. */
ARENA_API double arena_number(const arena_value *object, const char *name) {
    return arena_value_number(arena_get(object, name));
}

/* The field of an object as a text; empty if it is none. */
ARENA_API const char *arena_text(const arena_value *object, const char *name) {
    const arena_value *value = arena_get(object, name);
    return value && value->kind == ARENA_TEXT ? value->text : "";
}

/* Whether the field of an object is true or "true". */
ARENA_API bool arena_is_true(const arena_value *object, const char *name) {
    const arena_value *value = arena_get(object, name);
    return value && (value->kind == ARENA_TEXT ? !strcmp(value->text, "true") : value->number == 1);
}

/* ---- Random numbers ---- */

/* SplitMix64, the same in every kit: any number of 64 bits. */
ARENA_API uint64_t arena_word(arena_decision *decision) {
    uint64_t word = decision->rng += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

/* A whole number from 0 to bound - 1. */
ARENA_API uint32_t arena_below(arena_decision *decision, uint32_t bound) {
    uint64_t word = arena_word(decision);
    uint64_t low = (word & UINT32_MAX) * bound >> 32;
    return (uint32_t)(((word >> 32) * bound + low) >> 32);
}

/* A real number in [0, 1). */
ARENA_API double arena_random(arena_decision *decision) {
    return (double)(arena_word(decision) >> 11) / 9007199254740992.0;
}

/* ---- Memory of a message, which is freed at once ---- */

typedef struct arena_block {
    struct arena_block *next;
    size_t size, used;
} arena_block;

/* The blocks from the current one on are free. */
typedef struct {
    arena_block *first, *current;
} arena_pool;

ARENA_API void arena_out_of_memory(void) {
    fputs("out of memory\n", stderr);
    exit(1);
}

ARENA_API void arena_free_pool(arena_pool *pool) {
    for (arena_block *block = pool->first, *next; block; block = next) {
        next = block->next;
        free(block);
    }
}

ARENA_API void *arena_take(arena_pool *pool, size_t size) {
    const size_t head = (sizeof(arena_block) + 15) & ~(size_t)15;
    size = (size + 15) & ~(size_t)15;
    while (!pool->current || pool->current->size - pool->current->used < size) {
        arena_block *next = pool->current ? pool->current->next : pool->first;
        if (!next) {
            size_t room = size > 65536 ? size : 65536;
            next = malloc(head + room);
            if (!next) arena_out_of_memory();
            *next = (arena_block){NULL, room, 0};
            if (pool->current) pool->current->next = next;
            else pool->first = next;
        }
        next->used = 0;
        pool->current = next;
    }
    char *start = (char *)pool->current + head + pool->current->used;
    pool->current->used += size;
    return start;
}

/* ---- JSON ---- */

typedef struct {
    char *at;
    arena_pool *pool;
} arena_parser;

static arena_value *arena_parse_value(arena_parser *);

ARENA_API char arena_peek(arena_parser *parser) {
    while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\r' || *parser->at == '\n')
        parser->at++;
    return *parser->at;
}

ARENA_API bool arena_takes(arena_parser *parser, char character) {
    bool found = arena_peek(parser) == character;
    parser->at += found;
    return found;
}

ARENA_API bool arena_hex(const char *digits, uint32_t *code) {
    *code = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit < 0) return false;
        *code = *code * 16 + (uint32_t)digit;
    }
    return true;
}

/* Writes a character as UTF-8 and returns the place after it. */
ARENA_API char *arena_utf8(char *to, uint32_t code) {
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *to++ = (char)((0xff80 >> more & 0xff) | code >> 6 * more);
    while (more--) *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return to;
}

/* Reads a string in place: escaped characters are never longer than their escapes. */
ARENA_API char *arena_parse_string(arena_parser *parser) {
    static const char escapes[] = "b\bf\fn\nr\rt\t\"\"\\\\//";
    char *start = ++parser->at, *to = start, *from = start;
    for (; *from != '"'; from++) {
        if (!*from) return NULL;
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        from++;
        if (*from == 'u') {
            uint32_t code, low;
            if (!arena_hex(from + 1, &code)) return NULL;
            from += 4;
            /* Two units of UTF-16 are one character. */
            if (code >= 0xd800 && code < 0xdc00 && from[1] == '\\' && from[2] == 'u' &&
                arena_hex(from + 3, &low)) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low & 0x3ff);
                from += 6;
            }
            to = arena_utf8(to, code);
            continue;
        }
        const char *escape = escapes;
        while (*escape && *escape != *from) escape += 2;
        if (!*escape) return NULL;
        *to++ = escape[1];
    }
    parser->at = from + 1;
    *to = 0;
    return start;
}

ARENA_API arena_value *arena_new(arena_parser *parser, arena_kind kind) {
    arena_value *value = arena_take(parser->pool, sizeof *value);
    *value = (arena_value){.kind = kind};
    return value;
}

/* Reads the elements of a list or the fields of an object. */
ARENA_API arena_value *arena_parse_many(arena_parser *parser, arena_kind kind, char end) {
    arena_value *many = arena_new(parser, kind), **last = &many->first;
    parser->at++;
    if (arena_takes(parser, end)) return many;
    do {
        char *name = NULL;
        if (kind == ARENA_OBJECT) {
            if (arena_peek(parser) != '"' || !(name = arena_parse_string(parser))) return NULL;
            if (!arena_takes(parser, ':')) return NULL;
        }
        arena_value *value = arena_parse_value(parser);
        if (!value) return NULL;
        value->name = name;
        *last = value;
        last = &value->next;
        many->length++;
    } while (arena_takes(parser, ','));
    if (!arena_takes(parser, end)) return NULL;
    many->all = arena_take(parser->pool, many->length * sizeof *many->all);
    size_t index = 0;
    for (arena_value *value = many->first; value; value = value->next) many->all[index++] = value;
    return many;
}

static arena_value *arena_parse_value(arena_parser *parser) {
    char first = arena_peek(parser);
    if (first == '{') return arena_parse_many(parser, ARENA_OBJECT, '}');
    if (first == '[') return arena_parse_many(parser, ARENA_LIST, ']');
    if (first == '"') {
        arena_value *value = arena_new(parser, ARENA_TEXT);
        value->text = arena_parse_string(parser);
        return value->text ? value : NULL;
    }
    static const char *const words[] = {"null", "false", "true"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(parser->at, words[i], length)) continue;
        parser->at += length;
        arena_value *value = arena_new(parser, i ? ARENA_BOOL : ARENA_NULL);
        value->number = i == 2;
        return value;
    }
    arena_value *value = arena_new(parser, ARENA_NUMBER);
    char *end = parser->at;
    /* Most numbers are short and whole, and strtod is slow. */
    while (*end >= '0' && *end <= '9' && end - parser->at < 15) value->number = value->number * 10 + (*end++ - '0');
    if (end == parser->at || strchr("0123456789.eE", *end)) value->number = strtod(parser->at, &end);
    if (end == parser->at) return NULL;
    parser->at = end;
    return value;
}

/* Reads a line, which is changed; NULL if it is not JSON. */
ARENA_API arena_value *arena_parse(char *line, arena_pool *pool) {
    arena_parser parser = {line, pool};
    arena_value *value = arena_parse_value(&parser);
    return value && !arena_peek(&parser) ? value : NULL;
}

/* ---- Messages ---- */

/* A text that grows. */
typedef struct {
    char *text;
    size_t length, room;
} arena_buffer;

ARENA_API void arena_add(arena_buffer *buffer, const char *format, ...) {
    for (;;) {
        va_list arguments;
        va_start(arguments, format);
        size_t left = buffer->room - buffer->length;
        int size = vsnprintf(buffer->text ? buffer->text + buffer->length : NULL, left, format, arguments);
        va_end(arguments);
        if (size >= 0 && (size_t)size < left) {
            buffer->length += (size_t)size;
            return;
        }
        buffer->room = buffer->room * 2 + (size_t)size + 4096;
        buffer->text = realloc(buffer->text, buffer->room);
        if (!buffer->text) arena_out_of_memory();
    }
}

/* Adds a field with a text; nothing for NULL. */
ARENA_API void arena_add_text(arena_buffer *buffer, const char *name, const char *text) {
    if (!text) return;
    arena_add(buffer, name ? ",\"%s\":\"" : "\"", name);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') arena_add(buffer, "\\%c", *text);
        else if ((unsigned char)*text < 32) arena_add(buffer, "\\u%04x", *text);
        else arena_add(buffer, "%c", *text);
    }
    arena_add(buffer, "\"");
}

/* Adds a value as JSON. */
ARENA_API void arena_add_value(arena_buffer *buffer, const arena_value *value) {
    switch (value ? value->kind : ARENA_NULL) {
    case ARENA_NULL: arena_add(buffer, "null"); return;
    case ARENA_BOOL: arena_add(buffer, value->number ? "true" : "false"); return;
    case ARENA_NUMBER: arena_add(buffer, "%.17g", value->number); return;
    case ARENA_TEXT: arena_add_text(buffer, NULL, value->text); return;
    case ARENA_LIST:
    case ARENA_OBJECT: break;
    }
    bool is_list = value->kind == ARENA_LIST;
    arena_add(buffer, is_list ? "[" : "{");
    for (const arena_value *one = value->first; one; one = one->next) {
        if (one != value->first) arena_add(buffer, ",");
        if (!is_list) {
            arena_add_text(buffer, NULL, one->name);
            arena_add(buffer, ":");
        }
        arena_add_value(buffer, one);
    }
    arena_add(buffer, is_list ? "]" : "}");
}

ARENA_API void arena_add_hello(arena_buffer *out, const arena_about *about) {
    arena_add(out, "{\"type\":\"hello\",\"protocol\":1");
    arena_add_text(out, "name", about->name);
    arena_add_text(out, "version", about->version);
    arena_add_text(out, "author", about->author);
    if (about->more) arena_add(out, ",%s", about->more);
    arena_add(out, ",\"bots\":[{\"deterministic\":%s", about->deterministic ? "true" : "false");
    arena_add_text(out, "name", about->name);
    arena_add_text(out, "summary", about->summary);
    arena_add_text(out, "uses_seed", about->uses_seed);
    arena_add(out, ",\"rulesets\":[");
    for (const char *const *name = about->rulesets; name && *name; name++) {
        if (name > about->rulesets) arena_add(out, ",");
        arena_add_text(out, NULL, *name);
    }
    arena_add(out, "],\"options\":[");
    for (const arena_option *option = about->options; option && option->name; option++) {
        arena_add(out, option > about->options ? ",{\"rulesets\":[]" : "{\"rulesets\":[]");
        arena_add_text(out, "name", option->name);
        arena_add_text(out, "type", option->type);
        arena_add_text(out, "default_value", option->default_value);
        arena_add_text(out, "summary", option->summary);
        arena_add_text(out, "min", option->min);
        arena_add_text(out, "max", option->max);
        if (option->more) arena_add(out, ",%s", option->more);
        arena_add(out, "}");
    }
    arena_add(out, "]}]}\n");
}

ARENA_API long arena_choose(arena_policy choose, const arena_value *game, const arena_value *fields,
                            uint64_t budget, arena_pool *pool) {
    const arena_value *legal = arena_get(fields, "legal_moves");
    const arena_value *notations = arena_get(fields, "notations");
    size_t count = legal ? legal->length : 0;
    long *moves = arena_take(pool, count * sizeof *moves);
    for (size_t i = 0; i < count; i++) moves[i] = (long)legal->all[i]->number;
    const char **names = NULL;
    if (notations && count && notations->length == count) {
        names = arena_take(pool, count * sizeof *names);
        for (size_t i = 0; i < count; i++) names[i] = notations->all[i]->text;
    }
    uint64_t seed = strtoull(arena_text(fields, "seed"), NULL, 10);
    arena_decision decision = {
        .ruleset = arena_text(game, "ruleset"),
        .rules_version = (long)arena_number(game, "rules_version"),
        .options = arena_get(game, "options"),
        .seats = (long)arena_number(game, "seats"),
        .bot = arena_text(game, "bot"),
        .bot_options = arena_get(game, "bot_options"),
        .nodes = strtoull(arena_text(game, "nodes"), NULL, 10),
        .time_budget_us = budget,
        .seat = (long)arena_number(fields, "seat"),
        .number = (long)arena_number(fields, "number"),
        .seed = seed,
        .moves = count,
        .legal_moves = moves,
        .notations = names,
        .position = arena_get(fields, "position"),
        .clock = arena_get(fields, "clock"),
        .fields = fields,
        .rng = seed,
    };
    return choose(&decision);
}

typedef struct arena_game {
    struct arena_game *next;
    double context;
    char *line; /* the values point into it */
    arena_pool pool;
    const arena_value *message;
} arena_game;

ARENA_API const arena_value *arena_find_game(const arena_game *games, double context) {
    for (; games; games = games->next)
        if (games->context == context) return games->message;
    arena_fail("there is no game %.0f", context);
    return NULL;
}

ARENA_API void arena_add_answer(arena_buffer *out, arena_policy choose, const arena_game *games,
                                const arena_value *ask, arena_pool *pool) {
    double batch = arena_number(ask, "batch");
    uint64_t budget = (uint64_t)arena_number(ask, "time_budget_us");
    const arena_value *decisions = arena_get(ask, "decisions");
    if (setjmp(arena_failed)) {
        fprintf(stderr, "%s\n", arena_message);
        out->length = 0;
        arena_add(out, "{\"type\":\"error\",\"batch\":%.0f", batch);
        arena_add_text(out, "message", arena_message);
        arena_add(out, "}\n");
        return;
    }
    arena_add(out, "{\"type\":\"answer\",\"batch\":%.0f,\"moves\":[", batch);
    const arena_value *fields = decisions ? decisions->first : NULL;
    for (bool first = true; fields; fields = fields->next, first = false) {
        const arena_value *game = arena_find_game(games, arena_number(fields, "context"));
        long move = arena_choose(choose, game, fields, budget, pool);
        arena_add(out, first ? "%ld" : ",%ld", move);
    }
    arena_add(out, "]}\n");
}

ARENA_API bool arena_send(int to, const arena_buffer *out) {
    for (size_t sent = 0; sent < out->length;) {
        ssize_t size = write(to, out->text + sent, out->length - sent);
        if (size < 0 && errno != EINTR) return false;
        if (size > 0) sent += (size_t)size;
    }
    return true;
}

/* Answers decisions until the end of standard input; returns the exit code. */
ARENA_API int arena_serve(arena_policy choose, arena_about about) {
    /* Whatever prints to standard output, also a child process, must not disturb the protocol. */
    FILE *lines = fdopen(dup(0), "r");
    int answers = dup(1), null = open("/dev/null", O_RDONLY);
    if (!lines || answers < 0 || null < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0) {
        perror("standard streams");
        return 1;
    }
    close(null);
    setvbuf(stdout, NULL, _IOLBF, 0);

    arena_game *games = NULL;
    arena_pool pool = {0};
    arena_buffer out = {0};
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, lines) > 0) {
        arena_value *message = arena_parse(line, &pool);
        if (!message) {
            fputs("a line is not JSON\n", stderr);
            return 1;
        }
        const char *type = arena_text(message, "type");
        out.length = 0;
        if (!strcmp(type, "hello")) arena_add_hello(&out, &about);
        if (!strcmp(type, "ask")) arena_add_answer(&out, choose, games, message, &pool);
        if (!strcmp(type, "game")) {
            arena_game *game = malloc(sizeof *game);
            if (!game) arena_out_of_memory();
            *game = (arena_game){games, arena_number(message, "context"), line, pool, message};
            games = game;
            /* The game keeps the line and its values. */
            pool = (arena_pool){0};
            line = NULL;
            room = 0;
        }
        if (!arena_send(answers, &out)) break;
        pool.current = NULL;
    }
    for (arena_game *game = games, *next; game; game = next) {
        next = game->next;
        arena_free_pool(&game->pool);
        free(game->line);
        free(game);
    }
    arena_free_pool(&pool);
    free(out.text);
    free(line);
    fclose(lines);
    return 0;
}

#endif
