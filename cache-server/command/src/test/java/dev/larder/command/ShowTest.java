package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares what {@code show} prints and draws with what numpy itself says of the same arrays. */
class ShowTest {
    /** Arrays of every kind, each with the text, and where it has numbers the sums, that numpy gives. */
    private static final String ARRAYS = """
            import json
            g = np.random.default_rng(3)
            n = g.normal
            a = {
                'f4': n(size=(4, 6)).astype('<f4'), 'f8': n(size=(3, 5)), 'f2': n(size=(5, 7)).astype('<f2'),
                'f2be': n(size=(70, 7)).astype('>f2'), 'f4be': n(size=(3, 7)).astype('>f4'),
                'odd': np.array([1., 2.5, 3.25, np.nan, np.inf, -np.inf]), 'large': np.array([1e10, 1., -3.5]),
                'small': np.array([1e-5, 1., 0.]), 'below': np.array([1e-5, 1.2345678e-3, 1e-6], '<f4'),
                'tens': 10.0 ** np.arange(-6, 7), 'half': np.array([6e-8, 65504., -0.], '<f2'),
                'far': np.array([1e-300, 1e300, np.nan, -np.inf]),
                'zeros': np.array([0., -0.]), 'nans': np.full(3, np.nan), 'big': n(size=(100, 40)),
                'i1': g.integers(-128, 127, size=(5, 4)).astype('i1'), 'u8': np.array([0, 2**64 - 1, 5], '<u8'),
                'i8be': g.integers(-10**15, 10**15, size=(2, 3, 4)).astype('>i8'),
                'bool': g.integers(0, 2, size=(3, 4)).astype('?'), 'truth': np.array([True]),
                'c8': (n(size=4) + 1j * n(size=4)).astype('<c8'), 'c16': np.array([1 + 2j, -1.5 - .25j, np.nan + 1j]),
                'S': np.array([b'ab', b"it's", b'\\xff\\n']), 'zero': np.array([b'a\\0\\n']),
                'U': np.array(['\\u00e4', 'x"y', "it's", 'tab\\t', '\\u65e5']),
                'days': np.array(['2020-01-01', 'NaT', '1969-12-31'], '<M8[D]'),
                'ns': np.array(['2020-01-01T00:00:00.123456789', '1960-05-05T01:02:03'], '<M8[ns]'),
                'eras': np.array(['-0697-09-05', '12345-01-01', '275760-09-13'], '<M8[h]'),
                'months': np.array(['2020-01', '1950-12'], '>M8[M]'), 'spans': np.array([1, -5, 'NaT'], '<m8[s]'),
                'V': np.frombuffer(b'\\x00\\x01\\x02\\xff\\xab\\x10', 'V3'),
                'st': np.array([(1, 2.5, b'a', [1, 2]), (300, -1.25, b'bb', [3, 44])],
                               [('a', '<i4'), ('b', '<f4'), ('c', 'S2'), ('d', '<i2', (2,))]),
                'one': np.array([(1,), (2,)], [('a', '<i4')]),
                'nest': np.array([((1, 2.), True)], [('p', [('x', '<i2'), ('y', '<f8')]), ('q', '?')]),
                'deep': n(size=(5, 8, 9, 10)).astype('f4'), 'F': np.asfortranarray(n(size=(4, 3))),
                'long': np.arange(500), 'single': np.array(1.5), 'whole': np.array(7), 'none': np.zeros((0, 3)),
                'far_off': n(size=300000).astype('f4') * 1e3 + 1e6,
            }
            for k, v in a.items():
                np.save(k, v)
                f = v.astype('f8') if v.dtype.kind in 'biuf' else np.zeros(0)
                f = f[np.isfinite(f)]
                s = {} if f.size == 0 or k == 'far' else {'mean': f.mean(), 'std': f.std()}
                if s and v.dtype.kind != 'b':
                    s['histogram'] = np.histogram(f, 16)[0].tolist()
                open(k + '.json', 'w').write(json.dumps({'text': str(v), **s}))
            np.save('img', g.integers(0, 256, size=(5, 4, 6)).astype('u1'))
            np.save('rgb', g.integers(0, 256, size=(2, 4, 6, 3)).astype('u1'))
            np.save('grey', np.array([[[0., .5], [1., np.nan]]]))
            """;

    @TempDir
    static Path folder;

    private static CommandProcess daemon;

    @BeforeAll
    static void serve() throws IOException {
        Samples.numpy(Files.createDirectory(folder.resolve("source")), ARRAYS);
        daemon = CommandProcess.serve("--load", "d=" + folder.resolve("source"));
    }

    @AfterAll
    static void stop() {
        if (daemon != null) {
            daemon.close();
        }
    }

    static List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("source"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".json"))
                    .map(name -> name.substring(0, name.length() - ".json".length()))
                    .sorted()
                    .toList();
        }
    }

    private static JsonObject numpy(String name) throws IOException {
        String text = Files.readString(folder.resolve("source").resolve(name + ".json"));
        return JsonParser.parseString(text).getAsJsonObject();
    }

    private static JsonObject json(String name, String... arguments) {
        String[] words = Stream.concat(Stream.of("show", "d/" + name, "--json"), Stream.of(arguments))
                .toArray(String[]::new);
        Answer answer = daemon.ask(words);
        assertThat(answer.err()).isEmpty();
        return JsonParser.parseString(answer.out()).getAsJsonObject();
    }

    private static BufferedImage png(String name, String... arguments) throws IOException {
        Path file = folder.resolve(name + ".png");
        String[] words = Stream.concat(Stream.of("show", "d/" + name, "--png", file.toString()), Stream.of(arguments))
                .toArray(String[]::new);
        assertThat(daemon.ask(words).code()).isZero();
        return ImageIO.read(file.toFile());
    }

    @ParameterizedTest
    @MethodSource("names")
    void valuesAndSumsAreThoseOfNumpy(String name) throws IOException {
        JsonObject numpy = numpy(name);

        List<String> lines = daemon.ask("show", "d/" + name, "--rows", ":").lines();

        List<String> text = numpy.get("text").getAsString().lines().toList();
        assertThat(lines.subList(1, 1 + text.size())).isEqualTo(text);
        JsonObject own = json(name);
        for (String sum : List.of("mean", "std")) {
            if (numpy.has(sum)) {
                double expected = numpy.get(sum).getAsDouble();
                assertThat(own.get(sum).getAsDouble()).isCloseTo(expected, within(1e-12 * (1 + Math.abs(expected))));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"f4", "f2", "f2be", "f4be", "big", "far_off", "i8be"})
    void theHistogramIsThatOfNumpy(String name) throws IOException {
        JsonArray counts = json(name).getAsJsonObject("histogram").getAsJsonArray("counts");

        assertThat(counts).isEqualTo(numpy(name).getAsJsonArray("histogram"));
    }

    @Test
    void extremesAreExactAndWhatIsNoNumberIsCounted() {
        assertThat(daemon.ask("show", "d/u8").out()).contains("min=0 max=18446744073709551615");
        assertThat(daemon.ask("show", "d/odd").out()).contains("min=-inf max=inf", "count=6 nan=1 inf=2");
        JsonObject odd = json("odd");
        assertThat(odd.get("mean").getAsDouble()).isEqualTo(2.25);
        assertThat(odd.get("nanCount").getAsLong()).isEqualTo(1);
        assertThat(daemon.ask("show", "d/nans").out()).contains("min=nan max=nan mean=nan std=nan count=3 nan=3");
    }

    @Test
    void rowsAreChosenAsInPython() {
        assertThat(daemon.ask("show", "d/long", "--rows", "10:13").lines())
                .startsWith("long dtype=<i8 shape=(500,) order=C rows=10:13 of 500", "[10 11 12]");
        assertThat(json("long", "--rows", "-2:").getAsJsonArray("values")).hasToString("[498,499]");
        assertThat(daemon.ask("show", "d/long", "--rows", "x").code()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"500", "500:501", "501:", "-501"})
    void rowsThatAreNotThereAreRefusedWithTheirNumber(String rows) {
        Answer answer = daemon.ask("show", "d/long", "--rows=" + rows);

        assertThat(answer.code()).isEqualTo(2);
        assertThat(answer.out()).isEmpty();
        assertThat(answer.err()).startsWith("larder: there are no such rows: rows=" + rows + " count=500; ");
    }

    @Test
    void anImageThatCannotBeWrittenEndsWithOneLine() {
        try (CommandProcess show = CommandProcess.onStore(daemon.store(), "show", "d/img", "--png", "/nope/x.png")) {
            assertThat(show.exitCode()).isEqualTo(6);
            assertThat(show.err().lines())
                    .singleElement()
                    .asString()
                    .startsWith("larder: cannot write the image: file=/nope/x.png reason=/nope/x.png does not exist; ");
        }
    }

    @Test
    void jsonKeepsWhatEveryKindMeans() {
        assertThat(json("st").getAsJsonArray("values").get(1))
                .hasToString("{\"a\":300,\"b\":-1.25,\"c\":\"bb\",\"d\":[3,44]}");
        assertThat(json("c16").getAsJsonArray("values").get(1)).hasToString("[-1.5,-0.25]");
        assertThat(json("odd", "--rows", "0:6").getAsJsonArray("values"))
                .hasToString("[1,2.5,3.25,\"nan\",\"inf\",\"-inf\"]");
        assertThat(json("days").getAsJsonArray("values")).hasToString("[\"2020-01-01\",\"NaT\",\"1969-12-31\"]");
        assertThat(json("single").get("values")).hasToString("1.5");
        assertThat(json("zero").getAsJsonArray("values")).hasToString("[\"a\\u0000\\n\"]");
    }

    @Test
    void imagesBecomeAGrid() throws IOException {
        BufferedImage image = png("img", "--rows", "0:4");

        JsonArray values = json("img").getAsJsonArray("values");
        assertThat(image.getWidth()).isEqualTo(2 * 6 + 1);
        assertThat(image.getHeight()).isEqualTo(2 * 4 + 1);
        int pixel =
                values.get(3).getAsJsonArray().get(1).getAsJsonArray().get(2).getAsInt();
        assertThat(image.getRGB(7 + 2, 5 + 1) & 0xffffff).isEqualTo(pixel * 0x10101);
        assertThat(image.getRGB(6, 0) & 0xffffff).isZero();
    }

    @Test
    void colouredImagesKeepTheirColours() throws IOException {
        BufferedImage image = png("rgb");

        JsonArray pixel = json("rgb").getAsJsonArray("values").get(1).getAsJsonArray();
        JsonArray rgb = pixel.get(2).getAsJsonArray().get(3).getAsJsonArray();
        int expected = rgb.get(0).getAsInt() << 16
                | rgb.get(1).getAsInt() << 8
                | rgb.get(2).getAsInt();
        assertThat(image.getRGB(image.getWidth() - 6 + 3, image.getHeight() - 4 + 2) & 0xffffff)
                .isEqualTo(expected);
    }

    @Test
    void floatsAreDrawnFromBlackToWhite() throws IOException {
        BufferedImage image = png("grey");

        assertThat(image.getRGB(0, 0) & 0xffffff).isZero();
        assertThat(image.getRGB(1, 0) & 0xffffff).isEqualTo(0x808080);
        assertThat(image.getRGB(0, 1) & 0xffffff).isEqualTo(0xffffff);
        assertThat(image.getRGB(1, 1) & 0xffffff).isZero();
    }

    @Test
    void aMatrixBecomesAHeatMapAndAnythingElseAHistogram() throws IOException {
        BufferedImage heat = png("i1");
        BufferedImage bars = png("long");

        assertThat(heat.getWidth()).isEqualTo(4);
        assertThat(heat.getHeight()).isEqualTo(5);
        assertThat(bars.getWidth()).isEqualTo(16 * 32);
        assertThat(daemon.ask("show", "d/S", "--png", folder.resolve("s.png").toString())
                        .code())
                .isEqualTo(6);
    }
}
