-- Identities of people at providers of OpenID Connect.
CREATE TABLE identity (
    issuer          TEXT    NOT NULL,
    subject         TEXT    NOT NULL,
    user_id         INTEGER NOT NULL REFERENCES user (user_id),
    date_created    INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX identity_user ON identity (user_id, issuer);
