package dev.larder.distributed.internal.meeting;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The URL of a meeting, in its parts. Nothing in it is percent-encoded.
 *
 * @param text the URL, for messages
 * @param scheme the part before {@code ://}
 * @param place the part between that and the question mark
 * @param parameters the part after the question mark
 */
public record MeetingUrl(String text, String scheme, String place, Map<String, String> parameters) {
    public static final String ENV = "env";
    public static final String TCP = "tcp";
    static final String FILE = "file";

    private static final String RANK = "rank";
    private static final String WORLD_SIZE = "world_size";
    private static final String JOB = "job";
    private static final String EXAMPLES =
            "use env://, tcp://127.0.0.1:29500?rank=0&world_size=2 or file:///dev/shm/meet?rank=0&world_size=2";

    /** Parses a URL. */
    public static MeetingUrl parse(String url) {
        int colon = url.indexOf("://");
        String scheme = colon < 0 ? "" : url.substring(0, colon);
        if (!List.of(ENV, TCP, FILE).contains(scheme)) {
            throw bad(url, "unknown rendezvous scheme").remedy(EXAMPLES);
        }
        String rest = url.substring(colon + 3);
        int question = rest.indexOf('?');
        String place = question < 0 ? rest : rest.substring(0, question);
        String query = question < 0 ? "" : rest.substring(question + 1);
        return new MeetingUrl(url, scheme, place, parameters(url, query));
    }

    private static Map<String, String> parameters(String url, String query) {
        Map<String, String> parameters = new HashMap<>();
        if (query.isEmpty()) {
            return parameters;
        }
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = equals < 0 ? pair : pair.substring(0, equals);
            if (equals < 0 || !List.of(RANK, WORLD_SIZE, JOB).contains(name)) {
                throw bad(url, "no such rendezvous parameter")
                        .with("parameter", pair)
                        .remedy("parameters are rank=, world_size= and job=");
            }
            if (parameters.putIfAbsent(name, pair.substring(equals + 1)) != null) {
                throw bad(url, "parameter given twice").with("parameter", name).remedy("give it once");
            }
        }
        return parameters;
    }

    /** Adds rank and world size to the URL; fails if it names others. */
    public MeetingUrl with(int rank, int worldSize) {
        Map<String, String> both = new HashMap<>(parameters);
        put(both, RANK, rank);
        put(both, WORLD_SIZE, worldSize);
        return new MeetingUrl(text, scheme, place, both);
    }

    private void put(Map<String, String> both, String name, int value) {
        String before = both.put(name, Integer.toString(value));
        if (before != null && !before.equals(Integer.toString(value))) {
            throw bad(text, "the address names another " + name)
                    .with(name, value)
                    .remedy("name it in one place only");
        }
    }

    /** Returns the address of rank 0, which has to be of this machine. */
    public Endpoint endpoint() {
        String named = place.endsWith("/") ? place.substring(0, place.length() - 1) : place;
        int colon = named.lastIndexOf(':');
        Integer port = colon < 1 ? null : LaunchVariables.number(named.substring(colon + 1));
        if (port == null || port == 0 || port > Endpoint.LARGEST_PORT) {
            throw badPlace("not a host and a port");
        }
        return new Endpoint(Endpoint.withoutBrackets(named.substring(0, colon)), port).requireHere(text);
    }

    /** Returns the file that the ranks meet by. */
    public Path file() {
        if (!place.startsWith("/") || place.endsWith("/")) {
            throw badPlace("not the absolute path of a file");
        }
        return Path.of(place);
    }

    @Nullable
    String rank() {
        return parameters.get(RANK);
    }

    @Nullable
    String worldSize() {
        return parameters.get(WORLD_SIZE);
    }

    /** Returns the seat that the URL names, with the job of the URL or of the launcher. */
    public RankSeat seat(Map<String, String> environment) {
        return new RankSeat(
                number(RANK), number(WORLD_SIZE), job(environment), RunSecret.ofEnvironment(environment), "");
    }

    /** Returns the name of the job: that of the URL, or of the launcher. */
    public String job(Map<String, String> environment) {
        String job = parameters.get(JOB);
        return job != null ? job : LaunchVariables.job(environment);
    }

    private int number(String name) {
        String value = parameters.get(name);
        if (value == null) {
            throw bad(text, "the address lacks " + name)
                    .remedy("add ?rank=R&world_size=N, or give both to the call; env:// takes them from the launcher");
        }
        Integer number = LaunchVariables.number(value);
        if (number == null) {
            throw bad(text, "not a number").with(name, value).remedy("give a decimal number");
        }
        return number;
    }

    /** Returns the refusal of the place. */
    public LarderException badPlace(String what) {
        return bad(text, what).remedy(EXAMPLES);
    }

    private static Failure bad(String url, String what) {
        return Failure.of(ErrorCode.BAD_INPUT, what).with("address", url);
    }
}
