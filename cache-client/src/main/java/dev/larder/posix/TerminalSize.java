package dev.larder.posix;

/** How many characters a terminal shows. */
public record TerminalSize(int columns, int rows) {}
