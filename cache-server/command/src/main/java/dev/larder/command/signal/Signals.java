package dev.larder.command.signal;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;

/**
 * Hears signals of the operating system, by their names without SIG. The JDK runs each handler in a thread of its own.
 *
 * <p>Only {@code sun.misc.Signal} hears SIGINT and leaves the exit code to us. It is reached by name, as the compiler warns of
 * any mention and takes no advice.
 */
public final class Signals {
    /** Ctrl-C. */
    public static final String INTERRUPT = "INT";

    /** The polite request to end. */
    public static final String TERMINATE = "TERM";

    /** The terminal is gone. */
    public static final String HANG_UP = "HUP";

    private Signals() {}

    /** Calls the handler with the name, from now on, instead of ending the process. */
    public static void handle(String name, Consumer<String> handler) {
        try {
            Class<?> signalType = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            InvocationHandler calls = (proxy, method, arguments) -> {
                if (method.getName().equals("handle")) {
                    handler.accept(name);
                    return null;
                }
                return method.invoke(handler, arguments);
            };
            Object proxy = Proxy.newProxyInstance(Signals.class.getClassLoader(), new Class<?>[] {handlerType}, calls);
            Object signal = signalType.getConstructor(String.class).newInstance(name);
            signalType.getMethod("handle", signalType, handlerType).invoke(null, signal, proxy);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot handle signal " + name, e);
        }
    }
}
