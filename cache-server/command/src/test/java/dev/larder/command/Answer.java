package dev.larder.command;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What a command line printed and ended with, run inside the test's own process. */
record Answer(int code, String out, String err) {

    /** Runs a command line against a store. */
    static Answer of(Path store, String... arguments) {
        List<String> words = new ArrayList<>(List.of(arguments));
        words.add("--store");
        words.add(store.toString());
        return of(words.toArray(String[]::new));
    }

    /** Runs a command line. */
    static Answer of(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = LarderCommand.commandLine(arguments)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
        return new Answer(code, out.toString(), err.toString());
    }

    /** Returns the lines of standard output. */
    List<String> lines() {
        return out.lines().toList();
    }
}
