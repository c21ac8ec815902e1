package dev.larder.launch.process;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Divides the cores of the machine among ranks, which would otherwise each start as many threads as there are cores.
 *
 * <p>Variables that the user has set stay. A JVM has no setting for less than one core, and gets none in this case.
 *
 * @param cores that this process may use
 * @param ranks that share them
 */
record CoreShare(int cores, int ranks) {
    private static final String OMP = "OMP_NUM_THREADS";
    private static final String JVM = "JDK_JAVA_OPTIONS";
    private static final String JVM_FLAG = "-XX:ActiveProcessorCount=";

    /** All releases of PoCL read the first; those after 3 also read the second. */
    private static final String POCL = "POCL_MAX_PTHREAD_COUNT";

    private static final String POCL_LATER = "POCL_CPU_MAX_CU_COUNT";

    static CoreShare among(int ranks) {
        return new CoreShare(Runtime.getRuntime().availableProcessors(), ranks);
    }

    /** Returns the additions to an environment; none for a single rank. */
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

    /** Returns the additions of each rank for people; may be empty. */
    String text(Map<String, @Nullable String> environment) {
        String added = variables(environment).entrySet().stream()
                .map(variable -> variable.getKey() + "=" + variable.getValue())
                .collect(Collectors.joining(" "));
        return added.isEmpty() ? "" : cores + " cores for " + ranks + " ranks, so each gets " + added;
    }
}
