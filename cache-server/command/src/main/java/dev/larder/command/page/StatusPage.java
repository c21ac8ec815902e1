package dev.larder.command.page;

import dev.larder.server.Overview;
import dev.larder.server.http.HttpAnswer;
import dev.larder.server.http.HttpEndpoint;
import dev.larder.server.http.HttpResource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** The status page of a daemon, and the documents that it shows. */
public final class StatusPage {
    private static final String CHARTS = "/META-INF/resources/webjars/uplot/1.6.30/dist/";
    private static final String SCRIPT = "text/javascript; charset=utf-8";
    private static final String STYLE = "text/css; charset=utf-8";

    /** A shelf with three things on it. */
    private static final String ICON = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect y="12" width="16" height="2" fill="#5a6572"/>\
            <rect x="1" y="4" width="4" height="8" fill="#0072b2"/><rect x="6" y="7" width="4" height="5" fill="#e69f00"/>\
            <rect x="11" y="2" width="4" height="10" fill="#009e73"/></svg>""";

    private StatusPage() {}

    /** Returns the resources by path, for the daemon of a store. */
    public static Map<String, HttpResource> resources(Overview overview, Path store) {
        StatusDocument status = new StatusDocument(overview, store);
        ArrayLook look = new ArrayLook(overview, store);
        Map<String, HttpResource> resources = new LinkedHashMap<>();
        resources.put(HttpEndpoint.PAGE, file("page.html", "text/html; charset=utf-8"));
        resources.put(
                "/icon.svg", question -> HttpAnswer.tagged("image/svg+xml", ICON.getBytes(StandardCharsets.UTF_8)));
        resources.put("/page.js", file("page.js", SCRIPT));
        resources.put("/page.css", file("page.css", STYLE));
        resources.put("/uplot.js", file(CHARTS + "uPlot.iife.min.js", SCRIPT));
        resources.put("/uplot.css", file(CHARTS + "uPlot.min.css", STYLE));
        resources.put("/status.json", status::status);
        resources.put("/history.json", question -> status.history());
        resources.put("/arrays.json", status::arrays);
        resources.put("/look.json", look::describe);
        resources.put("/look.png", look::draw);
        resources.put("/look.file", look::file);
        return resources;
    }

    /** Returns a file of the class path, which is read at the first request. */
    private static HttpResource file(String name, String type) {
        return question -> {
            try (InputStream in = StatusPage.class.getResourceAsStream(name)) {
                if (in == null) {
                    throw new IllegalStateException("not on the class path: " + name);
                }
                return HttpAnswer.tagged(type, in.readAllBytes());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }
}
