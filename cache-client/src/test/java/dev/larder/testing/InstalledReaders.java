package dev.larder.testing;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A folder with the only readers that daemons of this process find, for each test anew. Register it as an extension. */
public final class InstalledReaders implements BeforeEachCallback, AfterEachCallback {
    private static final String FOLDER_PROPERTY = "larder.readers";

    private final Map<String, List<String>> readers = new LinkedHashMap<>();
    private final Map<String, String> properties = new LinkedHashMap<>();
    private Path folder = Path.of("");

    /** Adds a reader with these lines in its {@code reader.properties}; without lines it has none. */
    public InstalledReaders with(String name, List<String> lines) {
        readers.put(name, lines);
        return this;
    }

    /** Sets a property while a test runs. */
    public InstalledReaders property(String name, String value) {
        properties.put(name, value);
        return this;
    }

    /** Returns the line that names the entries of this JVM's class path that match a pattern. */
    public static String classPath(String pattern) {
        return "classpath="
                + Arrays.stream(System.getProperty("java.class.path").split(":", -1))
                        .filter(entry -> entry.matches(pattern))
                        .collect(Collectors.joining(":"));
    }

    /** Returns the line that names where these classes come from. */
    public static String classPath(Class<?>... classes) {
        return "classpath=" + Stream.of(classes).map(InstalledReaders::sourceOf).collect(Collectors.joining(":"));
    }

    private static String sourceOf(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the folder of a reader, which the next load reads. */
    public Path folder(String name) {
        return folder.resolve(name);
    }

    /** Writes the {@code reader.properties} of a reader, which may be there; without lines it has none. */
    public void install(String name, List<String> lines) throws IOException {
        Path reader = Files.createDirectories(folder(name));
        if (!lines.isEmpty()) {
            Files.write(reader.resolve("reader.properties"), lines);
        }
    }

    /** Returns the properties as flags of another JVM. */
    public List<String> flags() {
        return properties.entrySet().stream()
                .map(property -> "-D" + property.getKey() + "=" + property.getValue())
                .toList();
    }

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        folder = Files.createTempDirectory("readers");
        property(FOLDER_PROPERTY, folder.toString());
        for (Map.Entry<String, List<String>> reader : readers.entrySet()) {
            install(reader.getKey(), reader.getValue());
        }
        properties.forEach(System::setProperty);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        properties.keySet().forEach(System::clearProperty);
        Folders.remove(folder);
    }
}
