package dev.larder.command.output;

import java.util.List;
import java.util.Set;

/** Shortens a command line: for a JVM, to its main class and arguments. */
final class ProgramLine {
    /** Flags with a value in the next word. */
    private static final Set<String> WITH_VALUE = Set.of(
            "-cp",
            "-classpath",
            "--class-path",
            "-p",
            "--module-path",
            "--upgrade-module-path",
            "--add-modules",
            "--add-opens",
            "--add-exports",
            "--add-reads",
            "--limit-modules",
            "--patch-module",
            "--source",
            "--enable-native-access",
            "--describe-module",
            "-d");

    /** Flags directly before the program. */
    private static final Set<String> PROGRAM = Set.of("-jar", "-m", "--module");

    private ProgramLine() {}

    /** Returns the words in one line. */
    static String of(List<String> words) {
        if (words.isEmpty() || !words.get(0).matches("(.*/)?java")) {
            return String.join(" ", words);
        }
        int at = 1;
        while (at < words.size() && isFlag(words.get(at)) && !PROGRAM.contains(words.get(at))) {
            at += WITH_VALUE.contains(words.get(at)) ? 2 : 1;
        }
        if (at < words.size() && PROGRAM.contains(words.get(at))) {
            at++;
        }
        return at >= words.size()
                ? String.join(" ", words)
                : "java " + String.join(" ", words.subList(at, words.size()));
    }

    private static boolean isFlag(String word) {
        return word.startsWith("-") || word.startsWith("@");
    }
}
