package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.Folders;
import dev.larder.testing.OtherUser;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
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
        List<TestTemplateInvocationContext> cells = new ArrayList<>();
        for (StoreKind kind : matrix.on()) {
            for (String size : matrix.size()) {
                for (StoreUser user : matrix.as()) {
                    for (int number : matrix.number()) {
                        cells.add(new Cell(matrix, kind, size, user, number));
                    }
                }
            }
        }
        return cells.stream();
    }

    /** A class path that every user can read, made once and removed at the end. */
    private record ReadableClasses(Path folder, String words) implements AutoCloseable {
        static ReadableClasses of(ExtensionContext context) {
            ExtensionContext.Store store =
                    context.getRoot().getStore(ExtensionContext.Namespace.create(ReadableClasses.class));
            return store.computeIfAbsent(ReadableClasses.class, key -> make(), ReadableClasses.class);
        }

        private static ReadableClasses make() {
            try {
                Path folder = Files.createTempDirectory("classes");
                Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
                return new ReadableClasses(folder, OtherUser.readableClassPath(folder));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() {
            Folders.remove(folder);
        }
    }

    private static final class Cell
            implements TestTemplateInvocationContext, BeforeEachCallback, AfterEachCallback, ParameterResolver {
        private final StoreMatrix matrix;
        private final StoreKind kind;
        private final String size;
        private final StoreUser user;
        private final int number;
        private @Nullable TinyTmpfs mount;
        private @Nullable ServedStore served;
        private @Nullable GroupStore group;

        Cell(StoreMatrix matrix, StoreKind kind, String size, StoreUser user, int number) {
            this.matrix = matrix;
            this.kind = kind;
            this.size = size;
            this.user = user;
            this.number = number;
        }

        /** Names what differs between the cells. */
        @Override
        public String getDisplayName(int invocation) {
            return kind
                    + (matrix.size().length > 1 ? " " + size : "")
                    + (matrix.as().length > 1 ? " " + user : "")
                    + (matrix.number().length > 1 ? " " + number : "");
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            return List.of(this);
        }

        @Override
        public void beforeEach(ExtensionContext context) throws IOException {
            boolean isShared =
                    List.of(context.getRequiredTestMethod().getParameterTypes()).contains(GroupStore.class);
            if (isShared) {
                OtherUser.assumePossible();
            }
            mount = kind.mount(String.format(size, number));
            ServedStore made = mount == null
                    ? ServedStore.create()
                    : ServedStore.at(mount.folder().resolve("store"));
            served = made;
            if (isShared) {
                group = new GroupStore(made, ReadableClasses.of(context).words());
            }
        }

        @Override
        public void afterEach(ExtensionContext context) {
            try {
                if (context.getExecutionException().isEmpty()) {
                    requireWhole();
                }
            } finally {
                close(group);
                close(served);
                close(mount);
            }
        }

        /** The owner of a store of another user looks himself, as root does not trust what that user made. */
        private void requireWhole() {
            GroupStore shared = group;
            if (shared != null) {
                Awaitility.await()
                        .untilAsserted(() -> assertThat(shared.ask(StoreUser.OWNER, "inspect"))
                                .as("problems of the store")
                                .containsExactly(MemberProgram.OK + "[]"));
            } else if (served != null) {
                StoreInsides.requireWhole(served);
            }
        }

        private static void close(@Nullable AutoCloseable resource) {
            try {
                if (resource != null) {
                    resource.close();
                }
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        private Map<Class<?>, Object> parameters() {
            Map<Class<?>, Object> parameters =
                    new HashMap<>(Map.of(StoreKind.class, kind, StoreUser.class, user, int.class, number));
            if (served != null) {
                parameters.put(ServedStore.class, served);
            }
            if (group != null) {
                parameters.put(GroupStore.class, group);
            }
            return parameters;
        }

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameters().containsKey(parameter.getParameter().getType());
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return Objects.requireNonNull(
                    parameters().get(parameter.getParameter().getType()));
        }
    }
}
