package dev.larder.launch.process;

/**
 * A line that a process wrote, without its end.
 *
 * @param isError whether it came by standard error, where the two were kept apart
 * @param isOverwritten whether it ended with a carriage return alone, as progress bars do: the next one takes its place
 */
public record OutputLine(String text, boolean isError, boolean isOverwritten) {}
