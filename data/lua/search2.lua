-- floating-point and integer arithmetic in loops, arrays of arrays, bytes of strings
local function mandel(w)
    local inside = 0
    for py = 0, w - 1 do
        for px = 0, w - 1 do
            local cr, ci, zr, zi, k = px / w * 3 - 2, py / w * 2 - 1, 0.0, 0.0, 0
            while k < 30 and zr * zr + zi * zi < 4 do
                zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
                k = k + 1
            end
            if k == 30 then inside = inside + 1 end
        end
    end
    return inside
end
local grid = {}
for i = 1, 40 do grid[i] = {} for j = 1, 40 do grid[i][j] = (i * 7 + j * 13) % 5 end end
for _ = 1, 4 do
    for i = 2, 39 do
        local row, up, down = grid[i], grid[i - 1], grid[i + 1]
        for j = 2, 39 do row[j] = (up[j] + down[j] + row[j - 1] + row[j + 1]) // 4 end
    end
end
local text, hash = ("inlining is a decision; "):rep(60), 5381
for i = 1, #text do hash = (hash * 33 ~ text:byte(i)) & 0xffffffff end
local function collatz(n) local k = 0 while n ~= 1 do n = n % 2 == 0 and n // 2 or 3 * n + 1 k = k + 1 end return k end
local longest = 0
for i = 1, 600 do local k = collatz(i) if k > longest then longest = k end end
print(mandel(36), grid[20][20], hash, longest)
