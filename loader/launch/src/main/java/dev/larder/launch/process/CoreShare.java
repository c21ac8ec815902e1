package dev.larder.launch.process;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Divides the cores of the machine among ranks, which would each start as many threads as there are cores otherwise.
 *
 * <p>Whatever somebody has set already stays. A JVM cannot be told of less than one core, and is told nothing then.
 *
 * @param cores what this process may use
 * @param ranks among how many
 */
record CoreShare(int cores, int ranks) {
    private static final String OMP = "OMP_NUM_THREADS";
    private static final String JVM = "JDK_JAVA_OPTIONS";
    private static final String JVM_FLAG = "-XX:ActiveProcessorCount=";

    /** The first is read by PoCL up to 3, and by later ones too; the second by those alone. */
    private static final String POCL = "POCL_MAX_PTHREAD_COUNT";

    private static final String POCL_LATER = "POCL_CPU_MAX_CU_COUNT";

    static CoreShare among(int ranks) {
        return new CoreShare(Runtime.getRuntime().availableProcessors(), ranks);
    }

    /** Returns what to add to an environment; nothing for a rank alone. */
    Map<String, String> variables(Map<String, @Nullable String> environment) {
        Map<String, String> added = new LinkedHashMap<>();
        if (ranks == 1) {
            return added;
        }
        String threads = Integer.toString(Math.max(1, cores / ranks));
        if (!isSet(environment, OMP)) {
            added.put(OMP, threads);
        }
        String options = environment.get(JVM);
        String before = options == null ? "" : options;
        if (cores >= ranks && !before.contains(JVM_FLAG)) {
            added.put(JVM, (before + " " + JVM_FLAG + threads).strip());
        }
        if (!isSet(environment, POCL) && !isSet(environment, POCL_LATER)) {
            added.put(POCL, threads);
            added.put(POCL_LATER, threads);
        }
        return added;
    }

    private static boolean isSet(Map<String, @Nullable String> environment, String name) {
        String value = environment.get(name);
        return value != null && !value.isBlank();
    }

    /** Says what each rank is given; empty where nothing is added. */
    String text(Map<String, @Nullable String> environment) {
        String added = variables(environment).entrySet().stream()
                .map(variable -> variable.getKey() + "=" + variable.getValue())
                .collect(Collectors.joining(" "));
        return added.isEmpty() ? "" : cores + " cores for " + ranks + " ranks, so each gets " + added;
    }
}
