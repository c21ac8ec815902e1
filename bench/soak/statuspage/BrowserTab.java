import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A browser with one page, by the DevTools protocol. */
final class BrowserTab implements AutoCloseable, WebSocket.Listener {
    private static final Gson GSON = new Gson();

    private final Process process;
    private final WebSocket socket;
    private final AtomicInteger numbers = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonObject>> asked = new ConcurrentHashMap<>();
    private final List<String> complaints = Collections.synchronizedList(new ArrayList<>());
    private final StringBuilder received = new StringBuilder();

    BrowserTab(Path profile) throws Exception {
        String program = System.getenv().getOrDefault("LARDER_CHROMIUM", "chromium");
        process = new ProcessBuilder(
                        program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                        "--no-first-run", "--remote-debugging-port=0", "--remote-allow-origins=*",
                        "--user-data-dir=" + profile, "about:blank")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            socket = connect(profile);
            for (String domain : List.of("Page", "Runtime", "Log")) {
                call(domain + ".enable", Map.of());
            }
        } catch (Exception | AssertionError e) {
            end(process);
            throw e;
        }
    }

    private WebSocket connect(Path profile) throws Exception {
        Path file = profile.resolve("DevToolsActivePort");
        Expect.await("the browser", Expect.PATIENCE, () -> Expect.read(file).lines().count() > 1);
        String port = Expect.read(file).lines().findFirst().orElseThrow();
        HttpClient client = HttpClient.newHttpClient();
        JsonArray pages = JsonParser.parseString(client.send(
                                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json")).timeout(Expect.PATIENCE).build(),
                                HttpResponse.BodyHandlers.ofString())
                        .body())
                .getAsJsonArray();
        String address = pages.asList().stream()
                .map(JsonElement::getAsJsonObject)
                .filter(page -> page.get("type").getAsString().equals("page"))
                .findFirst()
                .orElseThrow()
                .get("webSocketDebuggerUrl")
                .getAsString();
        return client.newWebSocketBuilder().buildAsync(URI.create(address), this).get(30, TimeUnit.SECONDS);
    }

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence text, boolean last) {
        received.append(text);
        if (last) {
            JsonObject message = JsonParser.parseString(received.toString()).getAsJsonObject();
            received.setLength(0);
            if (message.has("id")) {
                asked.remove(message.get("id").getAsInt()).complete(message);
            } else if (List.of("Log.entryAdded", "Runtime.exceptionThrown").contains(message.get("method").getAsString())) {
                complaints.add(message.toString());
            }
        }
        from.request(1);
        return null;
    }

    JsonObject call(String method, Map<String, ?> parameters) {
        int number = numbers.incrementAndGet();
        CompletableFuture<JsonObject> answer = new CompletableFuture<>();
        asked.put(number, answer);
        socket.sendText(GSON.toJson(Map.of("id", number, "method", method, "params", parameters)), true).join();
        JsonObject message = answer.orTimeout(30, TimeUnit.SECONDS).join();
        Expect.require(message.has("result"), method + ": " + message);
        return message.getAsJsonObject("result");
    }

    void open(String address) {
        call("Page.navigate", Map.of("url", address));
    }

    JsonElement eval(String script) {
        JsonObject result = call("Runtime.evaluate", Map.of("expression", script, "returnByValue", true, "awaitPromise", true));
        Expect.require(!result.has("exceptionDetails"), script + ": " + result);
        JsonElement value = result.getAsJsonObject("result").get("value");
        return value == null ? JsonNull.INSTANCE : value;
    }

    void awaitShown() throws InterruptedException {
        Expect.await("the page is shown", Expect.PATIENCE, () -> eval("document.querySelector('#polled')?.textContent.startsWith('as of') ?? false")
                .getAsBoolean());
    }

    String text(String selector) {
        return eval("document.querySelector(" + GSON.toJson(selector) + ")?.textContent ?? ''").getAsString();
    }

    int count(String selector) {
        return eval("document.querySelectorAll(" + GSON.toJson(selector) + ").length").getAsInt();
    }

    boolean isHidden(String selector) {
        return eval("document.querySelector(" + GSON.toJson(selector) + ").hidden").getAsBoolean();
    }

    String fact(String name) {
        return eval("[...document.querySelectorAll('#facts div')].find((d) => d.firstChild.textContent === "
                        + GSON.toJson(name) + ").lastChild.textContent")
                .getAsString();
    }

    List<List<String>> rows(String section) {
        JsonArray rows = eval("[...(document.querySelector('" + section + " tbody')?.children ?? [])].filter((r) => !r.classList.contains('arrays'))"
                        + ".map((r) => [...r.children].map((c) => c.textContent))")
                .getAsJsonArray();
        return rows.asList().stream()
                .map(row -> row.getAsJsonArray().asList().stream().map(JsonElement::getAsString).toList())
                .toList();
    }

    void key(String key, int code) {
        Map<String, Object> event = new HashMap<>(Map.of("key", key, "windowsVirtualKeyCode", code, "type", "keyDown"));
        if (key.equals("Enter") || key.length() == 1) {
            event.put("text", key.equals("Enter") ? "\r" : key);
        }
        call("Input.dispatchKeyEvent", event);
        call("Input.dispatchKeyEvent", Map.of("key", key, "windowsVirtualKeyCode", code, "type", "keyUp"));
    }

    void type(String text) {
        call("Input.insertText", Map.of("text", text));
    }

    void shoot(Path file, int width, int height) throws Exception {
        call("Emulation.setDeviceMetricsOverride", Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        Expect.await("charts follow the size", Expect.PATIENCE, () -> sizes().equals(settledSizes()));
        String png = call("Page.captureScreenshot", Map.of("format", "png")).get("data").getAsString();
        Files.write(file, Base64.getDecoder().decode(png));
    }

    private String sizes() {
        return eval("JSON.stringify([...document.querySelectorAll('main, canvas')].map((e) => [e.clientWidth, e.clientHeight]))")
                .getAsString();
    }

    /** Returns the sizes after two frames have been drawn: charts are drawn anew in the frame after one that has another size. */
    private String settledSizes() {
        eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))");
        return sizes();
    }

    /** Fails on every message of the browser's console: blocked by the policy, not found, thrown. */
    void requireNoComplaints() {
        Expect.require(complaints.isEmpty(), complaints);
    }

    @Override
    public void close() throws Exception {
        socket.abort();
        end(process);
    }

    /** Kills the browser and its children, which write to its folder until they are gone, and waits for them. */
    private static void end(Process process) throws Exception {
        List<ProcessHandle> all = Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
        all.forEach(ProcessHandle::destroyForcibly);
        for (ProcessHandle each : all) {
            each.onExit().get(30, TimeUnit.SECONDS);
        }
    }
}
