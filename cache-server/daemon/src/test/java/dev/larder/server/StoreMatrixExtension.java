package dev.larder.server;

import dev.larder.testing.TinyTmpfs;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

/** Makes the cells of a {@link StoreMatrix}. */
final class StoreMatrixExtension implements TestTemplateInvocationContextProvider {
    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
        return true;
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
        StoreMatrix matrix =
                Objects.requireNonNull(context.getRequiredTestMethod().getAnnotation(StoreMatrix.class));
        return Arrays.stream(matrix.on())
                .flatMap(kind -> Arrays.stream(matrix.size())
                        .flatMap(size -> Arrays.stream(matrix.number())
                                .mapToObj(number -> new Cell(kind, size, number, names(kind, matrix, size, number)))));
    }

    /** Names what differs between the cells. */
    private static String names(StoreKind kind, StoreMatrix matrix, String size, int number) {
        return kind + (matrix.size().length > 1 ? " " + size : "") + (matrix.number().length > 1 ? " " + number : "");
    }

    private static final class Cell
            implements TestTemplateInvocationContext, BeforeEachCallback, AfterEachCallback, ParameterResolver {
        private final StoreKind kind;
        private final String size;
        private final int number;
        private final String name;
        private @Nullable TinyTmpfs mount;
        private @Nullable ServedStore served;

        Cell(StoreKind kind, String size, int number, String name) {
            this.kind = kind;
            this.size = size;
            this.number = number;
            this.name = name;
        }

        @Override
        public String getDisplayName(int invocation) {
            return name;
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            return List.of(this);
        }

        @Override
        public void beforeEach(ExtensionContext context) {
            mount = kind.mount(String.format(size, number));
            served = mount == null
                    ? ServedStore.create()
                    : ServedStore.at(mount.folder().resolve("store"));
        }

        @Override
        public void afterEach(ExtensionContext context) {
            try {
                if (served != null && context.getExecutionException().isEmpty()) {
                    StoreInsides.requireWhole(served);
                }
            } finally {
                close();
            }
        }

        private void close() {
            try {
                if (served != null) {
                    served.close();
                }
            } finally {
                if (mount != null) {
                    mount.close();
                }
            }
        }

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            Class<?> type = parameter.getParameter().getType();
            return type == ServedStore.class || type == StoreKind.class || type == int.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            Class<?> type = parameter.getParameter().getType();
            if (type == ServedStore.class) {
                return Objects.requireNonNull(served);
            }
            return type == StoreKind.class ? kind : (Object) number;
        }
    }
}
