-- a ledger: views, triggers, case, having
CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER DEFAULT 0);
CREATE TABLE entry(id INTEGER PRIMARY KEY, account INTEGER, cents INTEGER, note TEXT);
CREATE TRIGGER post AFTER INSERT ON entry BEGIN UPDATE account SET balance = balance + new.cents WHERE id = new.account; END;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) INSERT INTO account(id) SELECT i FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO entry(account, cents, note) SELECT i * 53 % 150 + 1, i * 97 % 2001 - 1000, CASE i % 3 WHEN 0 THEN 'rent' WHEN 1 THEN 'food' ELSE NULL END FROM n;
CREATE VIEW spent AS SELECT account, note, sum(cents) AS s FROM entry GROUP BY account, note;
SELECT note, count(*), max(s) FROM spent WHERE s < 0 GROUP BY note HAVING count(*) > 5 ORDER BY note;
SELECT sum(balance), max(balance), coalesce(min(nullif(balance, 0)), 0) FROM account;
