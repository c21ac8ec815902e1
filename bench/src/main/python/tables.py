#!/usr/bin/env python3
"""Prints the tables of a part, as far as its rows allow.

usage: tables.py PART FOLDER quick|short|long
"""
import sys

import parts

if __name__ == "__main__":
    part, folder, pace = sys.argv[1:]
    for text in parts.of(part).tables(folder, pace):
        print(text, flush=True)
