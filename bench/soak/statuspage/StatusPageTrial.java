import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Checks of the status page in a browser, with real daemons; see bench/soak/page. */
public final class StatusPageTrial {
    private static final Gson GSON = new Gson();

    private final String larder;
    private final Path folder;
    private final Path shots;
    private String only = "";
    private int failures;

    private StatusPageTrial(String larder, Path folder, Path shots) {
        this.larder = larder;
        this.folder = folder;
        this.shots = shots;
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("larder-page");
        Map<String, String> options = IntStream.range(1, arguments.length - 1)
                .filter(i -> arguments[i].startsWith("--"))
                .boxed()
                .collect(Collectors.toMap(i -> arguments[i], i -> arguments[i + 1]));
        Path shots = Files.createDirectories(Path.of(options.getOrDefault("--shots", folder.resolve("shots").toString())));
        StatusPageTrial trial = new StatusPageTrial(arguments[0], folder, shots);
        trial.only = options.getOrDefault("--only", "");
        try {
            if (options.containsKey("--guide")) {
                trial.drawGuide(Path.of(options.get("--guide")));
            } else {
                trial.run();
            }
        } finally {
            removeAll(folder);
        }
        System.out.println(trial.failures == 0 ? "All checks hold." : trial.failures + " checks failed.");
        System.exit(trial.failures == 0 ? 0 : 1);
    }

    private void run() throws Exception {
        check("an empty store", this::emptyStore);
        check("what the page shows is what --json says", this::equalsJson);
        check("images of a folder are shown", this::images);
        check("a load moves, and a holder that is killed goes within 2 s", this::moves);
        check("launches and grids are shown while they run", this::runs);
        check("names are text", this::hostileNames);
        check("tokens and hosts", this::strangers);
        check("the end of the daemon, and its return", this::endAndReturn);
        check("1000 datasets, 100,000 arrays", this::many);
    }

    private interface Check {
        void run() throws Exception;
    }

    private void check(String name, Check check) {
        if (!name.contains(only)) {
            return;
        }
        Instant began = Instant.now();
        try {
            check.run();
            System.out.printf("ok      %s (%.1f s)%n", name, Duration.between(began, Instant.now()).toMillis() / 1000.0);
        } catch (Exception | AssertionError e) {
            failures++;
            System.out.println("FAILED  " + name + ": " + e);
            e.printStackTrace(System.out);
        }
    }

    // The checks

    private void emptyStore() throws Exception {
        try (Served daemon = serve();
                BrowserTab tab = open(daemon.page)) {
            tab.awaitShown();
            Expect.require(tab.text("#datasets .none").startsWith("No datasets."), tab.text("#datasets"));
            Expect.require(tab.text("#holders .none").startsWith("Nobody"), tab.text("#holders"));
            Expect.require(tab.isHidden("#loads") && tab.isHidden("#feeds"), "sections without rows are shown");
            tab.shoot(shots.resolve("empty.png"), 1200, 900);
            tab.requireNoComplaints();
        }
    }

    private void equalsJson() throws Exception {
        try (Served daemon = serve("--capacity", "512m");
                LeaseHolder reader = daemon.readerOf("images")) {
            publishSamples(daemon);
            reader.start();
            daemon.ask("pin", "weather");
            daemon.ask("evict", "old");
            try (BrowserTab tab = open(daemon.page)) {
                tab.awaitShown();
                Expect.await("the reader's row", Expect.PATIENCE, () -> tab.rows("#holders").size() == 1);
                compareWithJson(daemon, tab);
                tab.shoot(shots.resolve("light.png"), 1300, 1000);
                tab.shoot(shots.resolve("narrow.png"), 400, 1500);
                tab.eval("document.getElementById('theme').click()");
                tab.shoot(shots.resolve("dark.png"), 1300, 1000);
                requireContrast(tab);
                useKeys(tab);
                look(tab);
                tab.requireNoComplaints();
            }
        }
    }

    private void publishSamples(Served daemon) throws Exception {
        npy("images.npy", "|u1", "(64, 28, 28)", 64 * 28 * 28);
        npy("weather.npy", "<f4", "(8760, 64)", 8760 * 64 * 4);
        npy("old.npy", "<i8", "(1000,)", 8000);
        for (String name : List.of("images", "weather", "old")) {
            daemon.ask("load", name + "=" + folder.resolve(name + ".npy"));
        }
        daemon.ask("register", "later=" + folder.resolve("weather.npy"));
    }

    private static void compareWithJson(Served daemon, BrowserTab tab) throws Exception {
        JsonObject status = daemon.ask("status", "--json").getAsJsonObject();
        Expect.requireEqual(
                tab.text("#capacity").replaceAll(";.*", ""),
                size(status.get("usedBytes").getAsLong()) + " of "
                        + size(status.get("capacityBytes").getAsLong()) + " used",
                "capacity");
        Expect.requireEqual(tab.fact("store"), status.get("store").getAsString(), "store");
        Expect.requireEqual(tab.fact("pid"), status.get("pid").getAsString(), "pid");
        Expect.requireEqual(tab.fact("arrays"), status.get("arrays").getAsString(), "arrays");
        Expect.requireEqual(tab.fact("clients"), status.get("clients").getAsString(), "clients");

        List<List<String>> rows = tab.rows("#datasets");
        List<List<String>> expected = new ArrayList<>();
        for (JsonElement element : daemon.ask("ls", "--all", "--json").getAsJsonArray()) {
            JsonObject array = element.getAsJsonObject();
            String dataset = array.get("name").getAsString().replaceFirst("/.*", "");
            String holders = array.get("leases").getAsInt() == 0 ? "" : array.get("leases").getAsString();
            String version = array.get("version").getAsInt() == 0 ? "" : array.get("version").getAsString();
            expected.add(List.of(
                    dataset,
                    version,
                    array.get("state").getAsString() + (array.get("pinned").getAsBoolean() ? " pinned" : ""),
                    size(array.get("bytes").getAsLong()),
                    holders,
                    array.get("digest").getAsString().substring(0, Math.min(12, array.get("digest").getAsString().length()))));
        }
        expected.sort(Comparator.comparing(row -> row.get(0)));
        List<List<String>> shown = rows.stream()
                .map(row -> List.of(row.get(0), row.get(1), row.get(2), row.get(3), row.get(5), row.get(7)))
                .toList();
        Expect.requireEqual(shown, expected, "datasets");

        JsonObject client = daemon.ask("clients", "--json").getAsJsonArray().get(0).getAsJsonObject();
        List<String> holder = tab.rows("#holders").get(0);
        Expect.requireEqual(
                List.of(holder.get(0), holder.get(1), holder.get(2), holder.get(3), holder.get(5)),
                List.of(
                        client.get("pid").getAsString(),
                        client.get("user").getAsString(),
                        size(client.get("bytes").getAsLong()),
                        client.getAsJsonArray("datasets").get(0).getAsString(),
                        client.get("command").getAsString()),
                "holder");
    }

    /** Text has to have a contrast of 4.5 to 1 with its background, in both themes. */
    private static void requireContrast(BrowserTab tab) {
        String least = tab.eval("""
                (() => {
                  const light = (c) => { const [r, g, b] = c.match(/\\d+/g).map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
                  let least = 99;
                  for (const theme of ["dark", ""]) {
                    document.documentElement.className = theme;
                    const back = light(getComputedStyle(document.body).backgroundColor);
                    for (const e of document.querySelectorAll("dt, dd, h1, h2, .aside, td, th, .none, #legend span")) {
                      const l = light(getComputedStyle(e).color);
                      least = Math.min(least, (Math.max(l, back) + .05) / (Math.min(l, back) + .05));
                    }
                  }
                  return least;
                })()""").getAsString();
        Expect.require(Double.parseDouble(least) >= 4.5, "contrast=" + least);
    }

    private static void useKeys(BrowserTab tab) throws Exception {
        tab.key("/", 191);
        Expect.requireEqual(tab.eval("document.activeElement.id").getAsString(), "match", "focus after /");
        tab.type("wea");
        Expect.await("only what matches", Expect.PATIENCE, () -> tab.rows("#datasets").size() == 1);
        tab.eval("const m = document.getElementById('match'); m.value = ''; m.dispatchEvent(new Event('input')); m.blur()");
        Expect.await("all again", Expect.PATIENCE, () -> tab.rows("#datasets").size() == 4);
    }

    private void look(BrowserTab tab) throws Exception {
        tab.eval("document.querySelector('#datasets tr[data-key^=images] button').focus()");
        tab.key("Enter", 13);
        Expect.await("the arrays of a dataset", Expect.PATIENCE, () -> tab.count("#datasets .arrays tbody tr") == 1);
        tab.eval("document.querySelector('#datasets .arrays tbody button').focus()");
        tab.key("Enter", 13);
        Expect.await("the values", Expect.PATIENCE, () -> tab.text("#look-text").startsWith("[[["));
        Expect.await("the picture", Expect.PATIENCE, () -> tab.eval("document.getElementById('look-picture').naturalWidth > 100").getAsBoolean());
        Expect.require(tab.text("#look-sums").contains("max"), tab.text("#look-sums"));
        tab.shoot(shots.resolve("look.png"), 1300, 1000);
        tab.key("Escape", 27);
        Expect.await("the look is closed", Expect.PATIENCE, () -> !tab.eval("document.getElementById('look').open").getAsBoolean());
    }

    private void images() throws Exception {
        Path cats = Files.createDirectories(folder.resolve("pets/cats"));
        for (int i = 0; i < 5; i++) {
            var image = new java.awt.image.BufferedImage(64, 48, java.awt.image.BufferedImage.TYPE_INT_RGB);
            image.createGraphics().fillOval(5 * i, 4, 30, 30);
            javax.imageio.ImageIO.write(image, "png", cats.resolve(i + ".png").toFile());
        }
        try (Served daemon = serve();
                BrowserTab tab = open(daemon.page)) {
            daemon.ask("load", "pets=" + cats.getParent(), "--as", "images");
            Expect.await("the dataset", Expect.PATIENCE, () -> tab.count("#datasets tbody button") == 1);
            tab.eval("document.querySelector('#datasets tbody button').click()");
            Expect.await("its arrays", Expect.PATIENCE, () -> tab.count("#datasets .arrays tbody tr") > 3);
            tab.eval("[...document.querySelectorAll('#datasets .arrays button')].find((b) => b.textContent.startsWith('image/')).click()");
            Expect.await("the images", Expect.PATIENCE, () -> tab.eval(
                            "[...document.querySelectorAll('#look-files img')].filter((i) => i.naturalWidth === 64).length === 5")
                    .getAsBoolean());
            tab.shoot(shots.resolve("images.png"), 1200, 800);
            tab.requireNoComplaints();
        }
    }

    private void moves() throws Exception {
        try (Served daemon = serve("--capacity", "3g");
                LeaseHolder reader = daemon.readerOf("small");
                BrowserTab tab = open(daemon.page)) {
            npy("small.npy", "|u1", "(1000,)", 1000);
            Path large = folder.resolve("large.csv");
            writeNumbers(large, 1200 << 20); // a few polls of the page long
            daemon.ask("load", "small=" + folder.resolve("small.npy"));
            reader.start();
            Expect.await("the holder's row", Expect.PATIENCE, () -> tab.rows("#holders").size() == 1);
            Process load = daemon.start("load", "large=" + large, "--workers", "1");
            Expect.await("the row of the load", Expect.PATIENCE, () -> tab.count("#loads tbody progress") == 1);
            double before = tab.eval("document.querySelector('#loads progress').value").getAsDouble();
            boolean[] hasMoved = {false};
            Instant end = Instant.now().plus(Expect.PATIENCE);
            while (load.isAlive()) {
                Expect.require(Instant.now().isBefore(end), "the load does not end");
                JsonElement now = tab.eval("document.querySelector('#loads progress')?.value ?? -1");
                hasMoved[0] |= now.getAsDouble() > before;
                if (hasMoved[0] && Files.notExists(shots.resolve("loading.png"))) {
                    tab.shoot(shots.resolve("loading.png"), 1300, 700);
                }
                Thread.sleep(50); // between two looks
            }
            Expect.require(hasMoved[0], "the load did not move");
            Expect.await("the load's row is gone", Expect.PATIENCE, () -> tab.isHidden("#loads"));
            Instant killed = reader.kill();
            Expect.await("the row of a killed holder goes", Duration.ofSeconds(2), () -> tab.rows("#holders").isEmpty());
            System.out.println("        it went after " + Duration.between(killed, Instant.now()).toMillis() + " ms");
            tab.requireNoComplaints();
        }
    }

    private void runs() throws Exception {
        Path hold = Files.writeString(folder.resolve("hold.py"), LeaseHolder.PROGRAM);
        try (Served daemon = serve();
                BrowserTab tab = open(daemon.page)) {
            daemon.ask("load", "small=" + npy("runs.npy", "|u1", "(1000,)", 1000));
            Path lease = daemon.store.resolve("data/small/1/lease");
            Expect.await("no runs", Expect.PATIENCE, () -> tab.isHidden("#launches") && tab.isHidden("#grids"));
            Process launch = LeaseHolder.command(lease, larder, "launch", "-n", "3", "--", "python3", hold.toString());
            Process grid = LeaseHolder.command(
                    lease, larder, "grid", "--devices", "2", "--out", folder.resolve("search").toString(), "x=1,2,3", "--", "python3", hold.toString());
            Expect.await("three ranks", Expect.PATIENCE, () -> tab.text("#launches tbody").contains("0–2 of 3"));
            Expect.await("two jobs", Expect.PATIENCE, () -> tab.text("#grids tbody").contains("1–2"));
            Expect.requireEqual(tab.rows("#grids").get(0).subList(0, 3), List.of("search", "1–2", "small"), "the grid's row");
            tab.shoot(shots.resolve("runs.png"), 1300, 900);
            launch.destroy();
            grid.destroy();
            Expect.await("no runs again", Expect.PATIENCE, () -> tab.isHidden("#launches") && tab.isHidden("#grids"));
            Expect.require(launch.waitFor(30, TimeUnit.SECONDS) && grid.waitFor(30, TimeUnit.SECONDS), "a run does not end");
            tab.requireNoComplaints();
        }
    }

    /** Writes text that takes some seconds to read. */
    private static void writeNumbers(Path file, long bytes) throws IOException {
        String line = "0.123456789,1.23456789e-3,-98765.4321,1234567890.5\n".repeat(4_000);
        try (var out = Files.newOutputStream(file)) {
            out.write("a,b,c,d\n".getBytes(StandardCharsets.US_ASCII));
            for (long done = 0; done < bytes; done += line.length()) {
                out.write(line.getBytes(StandardCharsets.US_ASCII));
            }
        }
    }

    private void hostileNames() throws Exception {
        Path evil = Files.createDirectories(folder.resolve("<img src=x onerror=window.evil=1>"));
        Path source = Files.move(npy("h.npy", "|u1", "(10,)", 10), evil.resolve("h.npy"));
        try (Served daemon = serve();
                BrowserTab tab = open(daemon.page)) {
            daemon.ask("load", "x=" + source);
            Process holder = new ProcessBuilder("python3", "-c", "import fcntl,sys,time;f=open(sys.argv[1]);fcntl.flock(f,1);time.sleep(99)",
                            daemon.store.resolve("data/x/1/lease").toString(), "<script>window.evil=1</script>")
                    .start();
            try {
                Expect.await("the holder's row", Expect.PATIENCE, () -> tab.rows("#holders").size() == 1);
                Expect.require(tab.text("#holders").contains("<script>window.evil=1</script>"), tab.text("#holders"));
                Expect.require(tab.text("#datasets").contains("<img src=x onerror"), tab.text("#datasets"));
                Expect.require(tab.eval("typeof window.evil").getAsString().equals("undefined"), "a name was executed");
                Expect.requireEqual(tab.count("main img, main script"), 0, "elements made of names");
                tab.requireNoComplaints();
            } finally {
                holder.destroyForcibly().waitFor();
            }
        }
    }

    private void strangers() throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        try (Served daemon = serve()) {
            URI root = URI.create(daemon.page.replaceFirst("\\?.*", ""));
            for (String path : List.of("", "status.json", "page.js", "?token=wrong", "look.json?name=x/y")) {
                HttpResponse<String> answer = client.send(
                        HttpRequest.newBuilder(root.resolve("/" + path)).build(), HttpResponse.BodyHandlers.ofString());
                Expect.requireEqual(answer.statusCode(), 401, path);
                Expect.requireEqual(answer.body(), "", "the answer to a stranger for " + path);
            }
            try (BrowserTab tab = open(daemon.page.replace("127.0.0.1", "evil.localhost"))) {
                // leads to 127.0.0.1, as a name of another site may
                Expect.await("the answer to another host", Expect.PATIENCE, () -> tab.eval(
                                "location.href !== 'about:blank' && document.readyState === 'complete'")
                        .getAsBoolean());
                Expect.requireEqual(tab.count("main"), 0, "a page under another host");
            }
            try (BrowserTab tab = open(daemon.page)) {
                tab.awaitShown();
                Expect.requireEqual(tab.eval("location.search").getAsString(), "", "the token in the address");
                Expect.requireEqual(tab.eval("document.cookie").getAsString(), "", "the cookie that scripts see");
                for (String method : List.of("POST", "PUT", "DELETE")) {
                    Expect.requireEqual(
                            tab.eval("fetch('/status.json', {method: '" + method + "'}).then((a) => a.status)").getAsInt(),
                            405,
                            method);
                }
            }
        }
    }

    private void endAndReturn() throws Exception {
        Served first = serve();
        try (BrowserTab tab = open(first.page)) {
            tab.awaitShown();
            first.close();
            Expect.await("the page says that the daemon is gone", Expect.PATIENCE, () -> tab.text("#trouble").contains("does not answer"));
            tab.shoot(shots.resolve("gone.png"), 1200, 700);
            int port = URI.create(first.page).getPort();
            try (Served second = serve("--http", Integer.toString(port))) {
                Expect.await("the page says that there is a new token", Expect.PATIENCE, () -> tab.text("#trouble").contains("new token"));
                tab.open(second.page);
                tab.awaitShown();
                Expect.await("no trouble", Expect.PATIENCE, () -> tab.isHidden("#trouble"));
                Expect.requireEqual(tab.fact("pid"), Long.toString(second.pid()), "pid");
            }
        }
    }

    private void many() throws Exception {
        try (Served daemon = serve("--capacity", "4g")) {
            Path thousand = Files.createDirectory(folder.resolve("thousand"));
            Path one = npy("one.npy", "|u1", "(100,)", 100);
            List<String> load = new ArrayList<>(List.of("load"));
            for (int i = 0; i < 1000; i++) {
                load.add("d%04d=%s".formatted(i, Files.createLink(thousand.resolve("f%04d.npy".formatted(i)), one)));
            }
            daemon.ask(load.toArray(String[]::new));
            Path arrays = Files.createDirectory(folder.resolve("arrays"));
            for (int i = 0; i < 100_000; i++) {
                if (i % 1000 == 0) {
                    Files.createDirectory(arrays.resolve("p" + i / 1000));
                }
                Files.createLink(arrays.resolve("p%d/a%05d.npy".formatted(i / 1000, i)), one.resolveSibling(linkTarget(one, i)));
            }
            daemon.ask("load", "zz-many=" + arrays);
            measure(daemon);
            try (BrowserTab tab = open(daemon.page)) {
                tab.awaitShown();
                String shown = tab.eval("Math.round(performance.getEntriesByType('paint').at(-1)?.startTime ?? 0)").getAsString();
                System.out.println("        first paint after ms=" + shown);
                Expect.require(tab.text("#range").endsWith("of 1,001"), tab.text("#range"));
                Expect.requireEqual(tab.rows("#datasets").size(), 100, "rows");
                Instant began = Instant.now();
                tab.eval("document.querySelector('[data-sort=arrays]').click()");
                Expect.await("the largest first", Expect.PATIENCE, () -> tab.rows("#datasets").get(0).get(0).equals("zz-many"));
                System.out.println("        sorted after ms=" + Duration.between(began, Instant.now()).toMillis());
                began = Instant.now();
                tab.eval("document.querySelector('#datasets tr[data-key^=zz] button').click()");
                Expect.await("some of its arrays", Expect.PATIENCE, () -> tab.count("#datasets .arrays tbody tr") == 100);
                System.out.println("        arrays after ms=" + Duration.between(began, Instant.now()).toMillis());
                tab.shoot(shots.resolve("many.png"), 1300, 1000);
                tab.requireNoComplaints();
            }
        }
    }

    /** A file may have a limited number of links. */
    private Path linkTarget(Path one, int i) throws IOException {
        Path target = one.resolveSibling("one-" + i / 10_000 + ".npy");
        if (Files.notExists(target)) {
            Files.copy(one, target);
        }
        return target.getFileName();
    }

    private static void measure(Served daemon) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        URI root = URI.create(daemon.page);
        HttpRequest.Builder question = HttpRequest.newBuilder(root.resolve("/status.json?count=100"))
                .header("Authorization", "Bearer " + root.getQuery().substring(6))
                .header("Accept-Encoding", "gzip");
        String tag = "";
        for (int i = 0; i < 6; i++) {
            Thread.sleep(500); // the daemon looks anew after 400 ms
            Instant began = Instant.now();
            HttpResponse<byte[]> answer =
                    client.send(question.setHeader("If-None-Match", tag).build(), HttpResponse.BodyHandlers.ofByteArray());
            System.out.printf(
                    "        poll: status=%d bytes=%d ms=%d%n",
                    answer.statusCode(), answer.body().length, Duration.between(began, Instant.now()).toMillis());
            tag = i < 3 ? "" : answer.headers().firstValue("ETag").orElse("");
        }
    }

    private void drawGuide(Path file) throws Exception {
        try (Served daemon = serve("--capacity", "768m");
                LeaseHolder first = daemon.readerOf("images");
                LeaseHolder second = daemon.readerOf("weather")) {
            npy("images.npy", "|u1", "(60000, 28, 28)", 60000L * 28 * 28);
            npy("weather.npy", "<f4", "(876000, 64)", 876000L * 64 * 4);
            npy("tokens.npy", "<u2", "(40000000,)", 80_000_000);
            Path numbers = folder.resolve("measurements.csv");
            writeNumbers(numbers, 500 << 20);
            for (String name : List.of("images", "weather", "tokens")) {
                daemon.ask("load", name + "=" + folder.resolve(name + ".npy"));
            }
            daemon.ask("evict", "tokens");
            first.start(Map.of("RANK", "0", "WORLD_SIZE", "2", "TORCHELASTIC_RUN_ID", "resnet50"));
            second.start(Map.of("RANK", "1", "WORLD_SIZE", "2", "TORCHELASTIC_RUN_ID", "resnet50"));
            try (BrowserTab tab = open(daemon.page)) {
                tab.awaitShown();
                for (String name : List.of("images", "tokens", "weather")) {
                    daemon.ask("wait", name);
                }
                daemon.ask("pin", "tokens");
                Process load = daemon.start("load", "measurements=" + numbers, "--workers", "1");
                Expect.await("the load", Expect.PATIENCE, () -> tab.text("#loads").contains("/s"));
                tab.shoot(file, 1200, 900);
                load.destroy();
                load.waitFor();
            }
        }
    }

    /** Writes an array of bytes that rise and fall. */
    private Path npy(String name, String dtype, String shape, long length) throws IOException {
        String header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }".formatted(dtype, shape);
        Path file = folder.resolve(name);
        try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
            out.write(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0});
            out.write(String.format("%-117s\n", header).getBytes(StandardCharsets.US_ASCII));
            byte[] chunk = new byte[(int) Math.min(length, 28 * 28 * 1000)];
            for (int i = 0; i < chunk.length; i++) {
                chunk[i] = (byte) (127 + 127 * Math.sin(i / 28.0 / 5) * Math.cos(i % 28 / 4.0 + i / 784));
            }
            for (long left = length; left > 0; left -= chunk.length) {
                out.write(chunk, 0, (int) Math.min(left, chunk.length));
            }
        }
        return file;
    }

    /** Writes bytes as the page does. */
    private static String size(long bytes) {
        if (bytes < 1024) {
            return bytes + " B";
        }
        double value = bytes;
        int step = -1;
        while (value >= 1023.95 && step < 5) {
            value /= 1024;
            step++;
        }
        return String.format("%.1f %ciB", value, "KMGTPE".charAt(step));
    }

    private static void removeAll(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.deleteIfExists(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    // Daemons and readers

    private static final AtomicInteger STORES = new AtomicInteger();

    private Served serve(String... options) throws Exception {
        Path store = Path.of("/dev/shm/larder-page-" + ProcessHandle.current().pid() + "-" + STORES.incrementAndGet());
        return new Served(store, options);
    }

    private final class Served implements AutoCloseable {
        final Path store;
        final String page;
        private final Process process;

        Served(Path store, String... options) throws Exception {
            this.store = store;
            List<String> words = new ArrayList<>(List.of(larder, "serve", "--store", store.toString()));
            words.addAll(List.of(options));
            if (!words.contains("--http")) {
                words.addAll(List.of("--http", "0"));
            }
            Path out = folder.resolve(store.getFileName() + ".log");
            process = new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(out.toFile()).start();
            Expect.await("the daemon of " + store, Expect.PATIENCE, () -> Expect.read(out).contains("Done caching"));
            Matcher address = Pattern.compile("Status page: (\\S+)").matcher(Expect.read(out));
            Expect.require(address.find(), Expect.read(out));
            page = address.group(1);
        }

        long pid() {
            return process.pid();
        }

        Process start(String... words) throws IOException {
            List<String> all = new ArrayList<>(List.of(larder));
            all.addAll(List.of(words));
            all.addAll(List.of("--store", store.toString()));
            return new ProcessBuilder(all).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        }

        JsonElement ask(String... words) throws Exception {
            Process process = start(words);
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Expect.requireEqual(process.waitFor(), 0, String.join(" ", List.of(words).subList(0, 1)));
            return List.of(words).contains("--json") ? JsonParser.parseString(out) : new JsonArray();
        }

        LeaseHolder readerOf(String dataset) {
            return new LeaseHolder(folder, store.resolve("data/" + dataset + "/1/lease"));
        }

        @Override
        public void close() throws Exception {
            process.destroy();
            Expect.require(process.waitFor(30, TimeUnit.SECONDS), "the daemon does not end");
            Expect.require(Files.notExists(store), "a store is left: " + store);
        }
    }

    // The browser

    private BrowserTab open(String address) throws Exception {
        BrowserTab tab = new BrowserTab(Files.createTempDirectory(folder, "chromium"));
        tab.open(address);
        return tab;
    }
}
