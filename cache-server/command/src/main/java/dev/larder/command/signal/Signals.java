package dev.larder.command.signal;

import dev.larder.internal.posix.Posix;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Consumer;

/**
 * Handles signals of the operating system, by their names without SIG. The JDK runs each handler in a thread of its own.
 *
 * <p>Uses {@code sun.misc.Signal}, because no other API handles SIGINT and keeps the exit code. Reflection avoids a compiler warning
 * that cannot be suppressed.
 */
public final class Signals {
    /** Ctrl-C. */
    public static final String INTERRUPT = "INT";

    /** The polite request to end. */
    public static final String TERMINATE = "TERM";

    /** The terminal was closed. */
    public static final String HANG_UP = "HUP";

    /** Signals that schedulers send to let a job save its state or continue. */
    private static final List<String> NOTICES = List.of("USR1", "USR2", "XCPU", "CONT");

    /** The variable with the number of the signal that suspends threads of the JVM: SIGUSR2 unless {@code ops/launcher} sets another. */
    private static final String JVM_SIGNAL = "_JAVA_SR_SIGNUM";

    private static final String JVM_SIGNAL_OF_LAUNCHER = "16";

    private Signals() {}

    /** Calls the handler on Ctrl-C, SIGTERM, and when the terminal goes away, instead of ending the process. */
    public static void handleStops(Consumer<String> handler) {
        Posix.system().acceptInterrupts();
        List.of(INTERRUPT, TERMINATE, HANG_UP).forEach(name -> handle(name, handler));
    }

    /** Calls the handler for notices of schedulers: SIGUSR1, SIGUSR2, SIGXCPU and SIGCONT. */
    public static void handleNotices(Consumer<String> handler) {
        notices().forEach(name -> handle(name, handler));
    }

    /** Ignores notices of schedulers, here and in programs that are started from now on. */
    public static void ignoreNotices() {
        try {
            Object ignore =
                    Class.forName("sun.misc.SignalHandler").getField("SIG_IGN").get(null);
            notices().forEach(name -> install(name, ignore));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot ignore signals", e);
        }
    }

    private static List<String> notices() {
        boolean isJvms = !JVM_SIGNAL_OF_LAUNCHER.equals(System.getenv(JVM_SIGNAL));
        return NOTICES.stream().filter(name -> !(isJvms && name.equals("USR2"))).toList();
    }

    /** Calls the handler with the name, from now on, instead of ending the process. */
    public static void handle(String name, Consumer<String> handler) {
        InvocationHandler calls = (proxy, method, arguments) -> {
            if (method.getName().equals("handle")) {
                handler.accept(name);
                return null;
            }
            return method.invoke(handler, arguments);
        };
        try {
            Class<?>[] types = {Class.forName("sun.misc.SignalHandler")};
            install(name, Proxy.newProxyInstance(Signals.class.getClassLoader(), types, calls));
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("cannot handle signal " + name, e);
        }
    }

    private static void install(String name, Object handler) {
        try {
            Class<?> signalType = Class.forName("sun.misc.Signal");
            Object signal = signalType.getConstructor(String.class).newInstance(name);
            signalType
                    .getMethod("handle", signalType, Class.forName("sun.misc.SignalHandler"))
                    .invoke(null, signal, handler);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot handle signal " + name, e);
        }
    }
}
