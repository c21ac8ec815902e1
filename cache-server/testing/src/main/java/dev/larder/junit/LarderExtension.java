package dev.larder.junit;

import dev.larder.client.Larder;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Provides a {@link TestStore}, or a {@link Larder} that is connected to it, to parameters of tests and of their set-up.
 *
 * <pre>{@code
 * @ExtendWith(LarderExtension.class)
 * class TrainerTest {
 *     @Test
 *     void learns(TestStore store) {
 *         store.publish("mnist", Map.of("image", new byte[][] {{1, 2}, {3, 4}}, "label", new int[] {0, 1}));
 *         try (Dataset mnist = store.connect().dataset("mnist")) {
 *             ...
 *         }
 *     }
 * }
 * }</pre>
 *
 * A test method and its {@code @BeforeEach} get the same store, which is closed after the test. If a {@code @BeforeAll} method or a constructor has such
 * a parameter, all tests of the class share that store. Works with JUnit 5 and 6.
 */
public final class LarderExtension implements ParameterResolver, AfterEachCallback, AfterAllCallback {
    private static final Namespace NAMESPACE = Namespace.create(LarderExtension.class);

    /** Creates the extension, as JUnit does. */
    public LarderExtension() {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == TestStore.class || type == Larder.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TestStore store = store(context);
        return parameter.getParameter().getType() == TestStore.class ? store : store.connect();
    }

    private static synchronized TestStore store(ExtensionContext context) {
        ExtensionContext.Store values = context.getStore(NAMESPACE);
        TestStore store = values.get(TestStore.class, TestStore.class); // of this context, or of one around it
        if (store == null) {
            store = TestStore.start();
            values.put(TestStore.class, store);
        }
        return store;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        close(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        close(context);
    }

    private static void close(ExtensionContext context) {
        TestStore own = context.getStore(NAMESPACE).remove(TestStore.class, TestStore.class);
        if (own != null) {
            own.close();
        }
    }
}
