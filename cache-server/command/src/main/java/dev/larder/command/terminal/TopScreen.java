package dev.larder.command.terminal;

import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.TerminalSize;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** Redraws lines in the same place. Opening switches to the terminal's alternate screen, closing switches back. */
public final class TopScreen implements AutoCloseable {
    private static final int STANDARD_OUTPUT = 1;
    private static final TerminalSize USUAL = new TerminalSize(80, 24);
    private static final String SECOND_SCREEN = "\u001b[?1049h\u001b[?25l";
    private static final String FIRST_SCREEN = "\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String END_OF_LINE = "\u001b[K";
    private static final String BELOW = "\u001b[J";

    private final PrintWriter out;

    public TopScreen(PrintWriter out) {
        this.out = out;
        out.print(SECOND_SCREEN);
        out.flush();
    }

    /** Returns whether standard output is a terminal that can draw. */
    public static boolean isThere() {
        return Posix.system().isTerminal(STANDARD_OUTPUT) && !"dumb".equals(System.getenv("TERM"));
    }

    /** Redraws the screen with as many lines as fit; {@code lines} gets the width of the terminal. */
    public void show(IntFunction<List<String>> lines) {
        TerminalSize known = Posix.system().terminalSize(STANDARD_OUTPUT);
        TerminalSize size = known == null ? USUAL : known;
        List<String> fitting = fit(lines.apply(size.columns()), size);
        out.print(HOME + String.join(END_OF_LINE + "\n", fitting) + END_OF_LINE + BELOW);
        out.flush();
    }

    /** Cuts lines to the size of a terminal. The last line shows how many lines are missing. */
    public static List<String> fit(List<String> lines, TerminalSize size) {
        int missing = lines.size() - size.rows() + 1;
        List<String> shown = lines;
        if (lines.size() > size.rows()) {
            shown = new ArrayList<>(lines.subList(0, Math.max(0, size.rows() - 1)));
            shown.add("… and " + missing + " more");
        }
        return shown.stream().map(line -> cut(line, size.columns())).toList();
    }

    private static String cut(String line, int columns) {
        return line.codePointCount(0, line.length()) <= columns
                ? line
                : line.substring(0, line.offsetByCodePoints(0, columns - 1)) + "…";
    }

    @Override
    public void close() {
        out.print(FIRST_SCREEN);
        out.flush();
    }
}
