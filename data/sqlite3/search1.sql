-- a small shop: insert, join, group, sort, update, index
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL);
CREATE TABLE sale(id INTEGER PRIMARY KEY, item INTEGER, amount INTEGER, day INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
INSERT INTO item SELECT i, 'item ' || (i * 7919 % 401), i * 37 % 100 / 4.0 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
INSERT INTO sale SELECT i, i * 31 % 400 + 1, i * 17 % 9 + 1, i * 13 % 365 FROM n;
CREATE INDEX by_item ON sale(item, day);
SELECT name, sum(amount * price) AS total FROM sale JOIN item ON item.id = sale.item
GROUP BY item.id ORDER BY total DESC, name LIMIT 20;
SELECT day / 30, count(*), avg(amount) FROM sale GROUP BY day / 30 ORDER BY 1;
UPDATE sale SET amount = amount + 1 WHERE item IN (SELECT id FROM item WHERE price < 5);
SELECT count(*), sum(amount) FROM sale WHERE day BETWEEN 100 AND 200;
