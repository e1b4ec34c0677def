-- One row for each shard; this release has one, 0. A coordinator that takes a shard over raises its
-- epoch, and every commit compares the epoch in its own transaction.
CREATE TABLE arena.owner (
    shard integer PRIMARY KEY,
    epoch bigint NOT NULL,
    -- The coordinator that owns the shard; null if none does.
    holder text,
    address text,
    expires timestamptz NOT NULL,
    -- True while `arena store copy` fills the database.
    unfinished boolean NOT NULL
) WITH (fillfactor = 20);

-- The end of a shard's chain of packs, and the sum of its documents. Each commit updates it, from
-- exactly the state that the writer knows.
CREATE TABLE arena.chain (
    shard integer PRIMARY KEY,
    packs bigint NOT NULL,
    games bigint NOT NULL,
    link bytea NOT NULL,
    document_version bigint NOT NULL,
    document_count bigint NOT NULL,
    document_digest bytea NOT NULL
) WITH (fillfactor = 20);

-- Up to 256 games each, with the hash of the pack before (services/store/src/packing/pack.rs).
CREATE TABLE arena.pack (
    shard integer NOT NULL,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    link bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (shard, seq)
);
-- It is compressed already.
ALTER TABLE arena.pack ALTER COLUMN body SET STORAGE EXTERNAL;

-- Agents, tournaments and other documents, each with its checksum
-- (services/store/src/documents.rs).
CREATE TABLE arena.document (
    collection smallint NOT NULL,
    key bytea NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (collection, key)
);

-- Agents' binaries, by their SHA-256.
CREATE TABLE arena.binary_chunk (
    digest bytea NOT NULL,
    part integer NOT NULL,
    stored timestamptz NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (digest, part)
);
ALTER TABLE arena.binary_chunk ALTER COLUMN body SET STORAGE EXTERNAL;

INSERT INTO arena.owner VALUES (0, 0, NULL, NULL, clock_timestamp(), false);
INSERT INTO arena.chain VALUES (0, 0, 0, decode(repeat('00', 32), 'hex'), 0, 0,
    decode(repeat('00', 32), 'hex'));
