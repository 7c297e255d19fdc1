-- A key is its caller's own: token is 0 for those without one, and for keys that this software makes, which hold a line
-- break, as that of a ticket does: no header can. made is when the answer was given.

CREATE TABLE answer_by_token (
    board BIGINT NOT NULL REFERENCES board (id),
    token BIGINT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    made DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (board, token, key)
);

INSERT INTO answer_by_token (board, token, key, digest, first, last, made)
SELECT
    answer.board,
    CASE WHEN SUBSTR(answer.key, 1, 7) = 'ticket
' THEN 0 ELSE COALESCE(ledger.token, 0) END,
    answer.key,
    answer.digest,
    answer.first,
    answer.last,
    COALESCE(ledger.made, 0)
FROM answer LEFT JOIN ledger ON ledger.id = answer.first;

DROP TABLE answer;

ALTER TABLE answer_by_token RENAME TO answer;
