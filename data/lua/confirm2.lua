-- numeric loops over arrays: sieve, matrix product, n-queens
local n, sieve, primes = 80000, {}, 0
for i = 2, n do
    if not sieve[i] then
        primes = primes + 1
        for j = i * i, n, i do sieve[j] = true end
    end
end
local function matrix(k) local m = {} for i = 1, k do m[i] = {} for j = 1, k do m[i][j] = (i * j) % 10 end end return m end
local a, b, trace = matrix(64), matrix(64), 0.0
for i = 1, 64 do
    for j = 1, 64 do
        local s = 0.0
        for k = 1, 64 do s = s + a[i][k] * b[k][j] end
        if i == j then trace = trace + s end
    end
end
local function queens(k, row, cols, d1, d2)
    if row > k then return 1 end
    local c = 0
    for col = 1, k do
        if not cols[col] and not d1[row + col] and not d2[row - col] then
            cols[col], d1[row + col], d2[row - col] = true, true, true
            c = c + queens(k, row + 1, cols, d1, d2)
            cols[col], d1[row + col], d2[row - col] = nil, nil, nil
        end
    end
    return c
end
print(primes, trace, queens(8, 1, {}, {}, {}))
