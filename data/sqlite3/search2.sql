-- text: patterns, replacements, distinct words, a transaction that is taken back
CREATE TABLE word(w TEXT, n INTEGER);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
INSERT INTO word SELECT printf('%x-%s', i * 2654435761 % 65536, char(97 + i % 26, 97 + i * 7 % 26, 97 + i * 11 % 26)), i FROM n;
COMMIT;
SELECT count(DISTINCT substr(w, -3)) FROM word;
SELECT count(*) FROM word WHERE w LIKE '%a%e%';
SELECT upper(replace(w, '-', '_')) FROM word WHERE w GLOB '*[0-4]a-*' ORDER BY w LIMIT 15;
BEGIN;
DELETE FROM word WHERE n % 3 = 0;
ROLLBACK;
SELECT length(group_concat(w, ' ')), max(w), min(w) FROM word;
