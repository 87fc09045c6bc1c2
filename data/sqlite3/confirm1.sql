-- a graph: reachability, degrees, a window over them
CREATE TABLE edge(a INTEGER, b INTEGER, PRIMARY KEY(a, b)) WITHOUT ROWID;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 14000)
INSERT OR IGNORE INTO edge SELECT i % 1500, (i * i + 3 * i + 1) % 1500 FROM n;
WITH RECURSIVE reach(v) AS (SELECT 0 UNION SELECT b FROM reach JOIN edge ON a = v) SELECT count(*), sum(v) FROM reach;
SELECT a, count(*) AS out, rank() OVER (ORDER BY count(*) DESC) FROM edge GROUP BY a ORDER BY out DESC, a LIMIT 12;
SELECT count(*) FROM edge x JOIN edge y ON x.b = y.a JOIN edge z ON y.b = z.a WHERE z.b = x.a;
