import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Run by the build: writes and compiles the class that Chronicle Map would otherwise write and compile, with javac, each
 * time a daemon starts. Chronicle looks for it on the class path first.
 *
 * <p>Arguments: the folder for the class, the folder for its source.
 */
public final class GenerateValueClasses {
    private static final String INTERFACE = "net.openhft.chronicle.hash.VanillaGlobalMutableState";
    private static final String SIMPLE_NAME = "VanillaGlobalMutableState$$Native";

    private GenerateValueClasses() {}

    public static void main(String[] args) throws Exception {
        Path classes = Path.of(args[0]);
        Path source = Path.of(args[1]).resolve("net/openhft/chronicle/hash").resolve(SIMPLE_NAME + ".java");
        if (isUpToDate(classes, source)) {
            return;
        }
        Files.createDirectories(classes);
        Files.createDirectories(source.getParent());
        Files.writeString(source, generate());
        compile(source, classes);
    }

    private static boolean isUpToDate(Path classes, Path source) throws IOException {
        Path compiled = classes.resolve("net/openhft/chronicle/hash").resolve(SIMPLE_NAME + ".class");
        return Files.exists(compiled) && Files.exists(source) && Files.readString(source).equals(generateQuietly());
    }

    private static String generateQuietly() {
        try {
            return generate();
        } catch (ReflectiveOperationException e) {
            return "";
        }
    }

    private static String generate() throws ReflectiveOperationException {
        Class<?> modelClass = Class.forName("net.openhft.chronicle.values.ValueModel");
        Object model = modelClass.getMethod("acquire", Class.class).invoke(null, Class.forName(INTERFACE));
        Method generator = Class.forName("net.openhft.chronicle.values.Generators")
                .getDeclaredMethod("generateNativeClass", modelClass, String.class);
        generator.setAccessible(true);
        return (String) generator.invoke(null, model, SIMPLE_NAME);
    }

    private static void compile(Path source, Path classes) {
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        List<String> options = List.of("--release", "17", "-proc:none", "-Xlint:none", "-d", classes.toString());
        boolean done = javac.getTask(
                        null, null, null, options, null, javac.getStandardFileManager(null, null, null)
                                .getJavaFileObjects(source))
                .call();
        if (!done) {
            throw new IllegalStateException("cannot compile " + source);
        }
    }
}
