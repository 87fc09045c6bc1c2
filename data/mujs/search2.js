// text: building, splitting, regular expressions, JSON
var words = 'the quick brown fox jumps over the lazy dog and runs away from it'.split(' '), text = '';
for (var i = 0; i < 600; i++) text += words[(i * 7 + (i >> 3)) % words.length] + (i % 11 ? ' ' : '.\n');
var seen = {}, all = text.match(/[a-z]+/g);
for (i = 0; i < all.length; i++) seen[all[i]] = (seen[all[i]] || 0) + 1;
print(Object.keys(seen).sort().map(function (w) { return w + seen[w]; }).join(' '));
print(text.replace(/(\w+) (\w+)/g, '$2 $1').length, text.split(/[.\s]+/).length);
var data = { rows: [] };
for (i = 0; i < 150; i++) data.rows.push({ id: i, name: words[i % words.length], value: i * 1.25, tags: [i % 3, 'x' + i] });
for (i = 0; i < 4; i++) data = JSON.parse(JSON.stringify(data));
print(JSON.stringify(data).length, data.rows[77].tags[1]);
var out = [];
for (i = 0; i < text.length; i += 3) out.push(text.charCodeAt(i).toString(16));
print(out.join('').length, encodeURIComponent(text.substring(0, 20)), text.toUpperCase().indexOf('DOG', 500));
