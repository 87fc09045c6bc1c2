import re, zlib
text = " ".join("word%d" % (i * 7919 % 1000) for i in range(50000))
count = {}
for w in re.findall(r"\w+", text):
    count[w] = count.get(w, 0) + 1
print(len(count), len(zlib.compress(text.encode(), 9)))
