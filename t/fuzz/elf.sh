#!/bin/bash
# elf.sh DIR - the smallest ELF file with two sections, and one that says to have more than it holds
d=$1
head='\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\0\0\0\0\x40\0\x38\0\0\0\x40\0'
section='\x01\0\0\0\x01\0\0\0\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
printf "$head\\x02\\0\\0\\0$section$section" > "$d/two"
printf "$head\\xff\\xff\\0\\0$section" > "$d/more"
