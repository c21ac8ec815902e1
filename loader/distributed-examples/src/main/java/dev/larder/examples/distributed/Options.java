package dev.larder.examples.distributed;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Options of the form {@code --name value}. */
record Options(Map<String, String> values) {
    /** Parses the options. Ends the program with exit code 2 if one is unknown. */
    static Options parse(String program, String[] arguments, Set<String> names) {
        Map<String, String> values = new HashMap<>();
        for (int i = 0; i < arguments.length; i += 2) {
            String name = arguments[i].startsWith("--") ? arguments[i].substring(2) : "";
            if (!names.contains(name) || i + 1 == arguments.length) {
                System.err.println(
                        program + ": cannot use " + arguments[i] + "; options are " + names + ", each with a value");
                System.exit(2);
            }
            values.put(name, arguments[i + 1]);
        }
        return new Options(values);
    }

    String text(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }

    /** Returns a name with the launcher's run ID and attempt, if set, so that runs and attempts do not share it. */
    String runName(String name) {
        Map<String, String> environment = System.getenv();
        return name + "-" + environment.getOrDefault("LARDER_RUN_ID", "alone") + "-"
                + environment.getOrDefault("LARDER_ATTEMPT", "0");
    }

    int number(String name, int otherwise) {
        return Integer.parseInt(text(name, Integer.toString(otherwise)));
    }

    float real(String name, float otherwise) {
        return Float.parseFloat(text(name, Float.toString(otherwise)));
    }
}
