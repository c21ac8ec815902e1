package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.BytesColumn;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadOptions.As;
import dev.larder.internal.protocol.LoadRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads folders of images, whose files are opened only to be copied. */
class ImagesLoadTest {
    private static final int IMAGES = 600;
    private static final int IMAGE_BYTES = 5_000;
    private static final long CAPACITY_BYTES = 12 << 20;

    @TempDir
    Path folder;

    private ServedStore store;

    @BeforeEach
    void writeImages() throws IOException {
        store = ServedStore.create();
        for (int i = 0; i < IMAGES; i++) {
            byte[] image = new byte[IMAGE_BYTES + i];
            Arrays.fill(image, (byte) i);
            image[0] = (byte) 0xff;
            image[1] = (byte) 0xd8;
            image[2] = (byte) 0xff;
            Files.write(Files.createDirectories(folder.resolve("c" + i % 3)).resolve(name(i)), image);
        }
    }

    @AfterEach
    void stop() {
        store.close();
    }

    private static String name(int image) {
        return String.format("%03d.jpg", image);
    }

    private Path file(int image) {
        return folder.resolve("c" + image % 3).resolve(name(image));
    }

    private Done load(String... names) {
        List<LoadRequest.Source> sources = Arrays.stream(names)
                .map(name -> new LoadRequest.Source(name, folder.toString()))
                .toList();
        LoadOptions options = LoadOptions.none().withAs(As.IMAGES);
        return store.control().load(new LoadRequest(sources, options, 2), progress -> {});
    }

    @Test
    void everyImageIsStoredWithItsPathAndClass() throws IOException {
        store.start();

        Done done = load("pets");

        assertThat(done.files()).isEqualTo(IMAGES);
        try (Larder larder = Larder.connect(store.root());
                Dataset pets = larder.dataset("pets")) {
            BytesColumn images = pets.bytes("image");
            for (int row = 0; row < IMAGES; row++) {
                byte[] stored = new byte[images.row(row).capacity()];
                images.row(row).getBytes(0, stored);
                String path = pets.strings("path").get(row);
                assertThat(stored).isEqualTo(Files.readAllBytes(folder.resolve(path)));
                assertThat(path).startsWith("c" + row / (IMAGES / 3) + "/");
            }
        }
    }

    @Test
    void allFilesOfAllSourcesThatAreNoImagesAreListedAndNothingIsLeft() throws IOException {
        store.start();
        for (int bad : new int[] {0, 301, 599}) {
            Files.writeString(file(bad), "<html>");
        }
        Files.writeString(file(7), "B"); // fewer bytes than any kind begins with

        assertThatThrownBy(() -> load("pets", "twice"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("badFiles=2")
                .hasMessageContaining("name=twice")
                .hasMessageContaining("badFiles=4")
                .hasMessageContaining(file(0) + " reason=it is no image: it begins with 3c 68 74 6d 6c 3e")
                .hasMessageContaining(file(301) + " reason=it is no image")
                .hasMessageContaining(file(599) + " reason=it is no image")
                .hasMessageContaining(file(7) + " reason=it is no image: it begins with 42");
        store.requireNothingLeft();
    }

    @Test
    void aLoadThatIsRefusedForAnImageEvictsNothing() throws IOException {
        store.start(OptionalLong.of(CAPACITY_BYTES));
        Path other = Files.createDirectory(folder.resolveSibling(folder.getFileName() + "-other"));
        try {
            ServedStore.writeBytes(other.resolve("a.npy"), (int) CAPACITY_BYTES * 9 / 10);
            store.load("kept", other);
            byte[] good = Files.readAllBytes(file(5));
            Files.writeString(file(5), "<html>");

            assertThatThrownBy(() -> load("pets")).hasMessageContaining("it is no image");
            assertThat(store.control().info("kept/a")).hasSize(1);
            Files.write(file(5), good);
            load("pets");
            assertThatThrownBy(() -> store.control().info("kept/a")).isInstanceOf(LarderException.class);
        } finally {
            Files.delete(other.resolve("a.npy"));
            Files.delete(other);
        }
    }
}
