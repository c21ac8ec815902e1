package dev.larder.command.doctor;

/** Checks that this JDK can run the daemon. */
final class JavaCheck implements Check {
    private static final int OLDEST = 17;
    private static final int NEWEST_TRIED = 25;

    @Override
    public String name() {
        return "java";
    }

    @Override
    public Finding look(Machine machine) {
        String version = machine.property("java.version");
        String found = "version=" + version + " home=" + machine.property("java.home");
        int release = release(machine.property("java.specification.version"));
        if (release < OLDEST) {
            return Finding.problem(name(), found + ": too old", "install JDK 17 or later, and set JAVA_HOME");
        } else if (!machine.probes().hasModule("jdk.compiler")) {
            return Finding.problem(
                    name(),
                    found + ": the daemon's catalog needs the module jdk.compiler, which a JRE lacks",
                    "install a JDK (apt-get install default-jdk-headless), and set JAVA_HOME");
        } else if (release > NEWEST_TRIED) {
            return Finding.info(name(), found + ": newer than any that was tested", "set JAVA_HOME to JDK 17 to 25");
        }
        return Finding.ok(name(), found + "; the script that starts larder gives the daemon the flags that it needs");
    }

    private static int release(String specification) {
        try {
            return Integer.parseInt(specification);
        } catch (NumberFormatException old) { // such as 1.8
            return 0;
        }
    }
}
