package dev.larder.internal.posix;

/** How many characters a terminal shows. */
public record TerminalSize(int columns, int rows) {}
