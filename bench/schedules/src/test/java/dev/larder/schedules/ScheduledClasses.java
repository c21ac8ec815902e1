package dev.larder.schedules;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.pastalab.fray.instrumentation.base.ApplicationCodeTransformer;
import org.pastalab.fray.runtime.Runtime;

/**
 * Loads Larder's classes so that Fray sees what they do: locks, volatile fields, calls to the file system, and each access to a field in the
 * watched classes. Leaves {@code synchronized} out of unlocked classes, which proves that a scenario needs it.
 */
final class ScheduledClasses extends ClassLoader {
    private static final String OURS = "dev.larder.";
    private static final String SKIPPED = "ScheduledClasses";
    private static final Set<String> FILE_CALLS =
            Set.of("java/nio/file/Files", "java/nio/file/SecureDirectoryStream", "dev/larder/internal/posix/Posix");

    /** What measures the machine: it reads files line by line, and nothing that threads share. */
    private static final List<String> MEASURES =
            List.of("dev/larder/server/store/space/Mount.", "dev/larder/server/store/space/Space.freeBytes()");

    private final List<String> watched;
    private final Set<String> unlocked;
    private final ApplicationCodeTransformer fray = new ApplicationCodeTransformer(false, List.of());
    private final ProtectionDomain domain = new ProtectionDomain(source(), null);

    /** Watches and unlocks these top-level classes with their nested ones, by name. */
    ScheduledClasses(List<String> watched, Set<String> unlocked) {
        super(ScheduledClasses.class.getClassLoader());
        this.watched = watched;
        this.unlocked = unlocked;
    }

    private static CodeSource source() {
        try {
            return new CodeSource(URI.create("file:/scheduled/").toURL(), (Certificate @Nullable []) null);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** No thread is switched meanwhile: others would wait for a lock of the JVM that Fray does not know. */
    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS) || name.equals(Points.class.getName())) {
            return super.loadClass(name, resolve);
        }
        Runtime.onSkipPrimitive(SKIPPED);
        try {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? define(name) : loaded;
            }
        } finally {
            Runtime.onSkipPrimitiveDone(SKIPPED);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        String path = name.replace('.', '/');
        try (InputStream stream = getParent().getResourceAsStream(path + ".class")) {
            if (stream == null) {
                throw new ClassNotFoundException(name);
            }
            int nested = name.indexOf('$');
            byte[] prepared = prepared(stream.readAllBytes(), nested < 0 ? name : name.substring(0, nested));
            byte[] bytes = fray.transform(this, path, null, domain, prepared);
            return defineClass(name, bytes, 0, bytes.length, domain);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] prepared(byte[] bytes, String topLevel) {
        int fields = watched.contains(topLevel) ? Points.FILES + 1 + watched.indexOf(topLevel) : -1;
        boolean isUnlocked = unlocked.contains(topLevel);
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        ClassVisitor visitor = new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(
                    int access, String name, String type, @Nullable String generic, String @Nullable [] thrown) {
                int kept = isUnlocked ? access & ~Opcodes.ACC_SYNCHRONIZED : access;
                return new Instructions(super.visitMethod(kept, name, type, generic, thrown), fields, isUnlocked);
            }
        };
        reader.accept(visitor, 0);
        return writer.toByteArray();
    }

    /** Adds points, and drops monitors. */
    private static final class Instructions extends MethodVisitor {
        private final int fields;
        private final boolean isUnlocked;

        Instructions(MethodVisitor next, int fields, boolean isUnlocked) {
            super(Opcodes.ASM9, next);
            this.fields = fields;
            this.isUnlocked = isUnlocked;
        }

        private void touch(int thing) {
            visitIntInsn(Opcodes.BIPUSH, thing);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, Type.getInternalName(Points.class), "touch", "(I)V", false);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String type, boolean isInterface) {
            String method = owner + "." + name + type;
            boolean isMeasure = MEASURES.stream().anyMatch(method::startsWith);
            if (FILE_CALLS.contains(owner)) {
                touch(Points.FILES);
            } else if (isMeasure) {
                skip("onSkipPrimitive");
            }
            super.visitMethodInsn(opcode, owner, name, type, isInterface);
            if (isMeasure) {
                skip("onSkipPrimitiveDone");
            }
        }

        private void skip(String call) {
            visitLdcInsn(SKIPPED);
            super.visitMethodInsn(
                    Opcodes.INVOKESTATIC, Type.getInternalName(Runtime.class), call, "(Ljava/lang/String;)V", false);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String type) {
            boolean isOfObject = opcode == Opcodes.GETFIELD || opcode == Opcodes.PUTFIELD;
            if (fields >= 0 && isOfObject) {
                touch(fields);
            }
            super.visitFieldInsn(opcode, owner, name, type);
        }

        @Override
        public void visitInsn(int opcode) {
            boolean isMonitor = opcode == Opcodes.MONITORENTER || opcode == Opcodes.MONITOREXIT;
            super.visitInsn(isUnlocked && isMonitor ? Opcodes.POP : opcode);
        }
    }
}
