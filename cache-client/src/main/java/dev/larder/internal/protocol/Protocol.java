package dev.larder.internal.protocol;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The control plane: <a href="https://varlink.org">Varlink</a>, with the interface in the file {@code dev.larder.Store.varlink}
 * of this package.
 */
public final class Protocol {
    /** The number of the control plane, for people. An incompatible change gets another interface. */
    public static final int NUMBER = 4;

    /** The interface of the daemon. */
    public static final String INTERFACE = "dev.larder.Store";

    /** The interface of every Varlink service. */
    public static final String SERVICE_INTERFACE = "org.varlink.service";

    /** The class of the parameters of each method. */
    public static final Map<String, Class<? extends Record>> METHODS = Map.ofEntries(
            Map.entry(SERVICE_INTERFACE + ".GetInfo", Request.GetInfo.class),
            Map.entry(SERVICE_INTERFACE + ".GetInterfaceDescription", Request.GetInterfaceDescription.class),
            method("Sources", Request.Sources.class),
            method("Load", LoadRequest.class),
            method("Reload", Request.Reload.class),
            method("Wait", Request.Wait.class),
            method("Create", Request.Create.class),
            method("Room", Request.Room.class),
            method("Files", Request.Files.class),
            method("Part", Request.Part.class),
            method("Publish", Request.Publish.class),
            method("List", Request.ListArrays.class),
            method("Info", Request.Info.class),
            method("Evict", Request.Evict.class),
            method("Pin", Request.Pin.class),
            method("Verify", Request.Verify.class),
            method("NoteWhole", Request.NoteWhole.class),
            method("Status", Request.Status.class),
            method("Errors", Request.Errors.class),
            method("Loads", Request.Loads.class),
            method("CreateRegion", RegionRequest.Create.class),
            method("ListRegions", RegionRequest.ListAll.class),
            method("RemoveRegion", RegionRequest.Remove.class),
            method("Stop", Request.Stop.class));

    private static final Map<Class<?>, String> NAMES = new HashMap<>();

    static {
        for (Map.Entry<String, Class<? extends Record>> method : METHODS.entrySet()) {
            NAMES.put(method.getValue(), method.getKey());
        }
    }

    /** The longest name in a call, in characters. */
    public static final int MAX_NAME_LENGTH = 1024;

    /** The longest path of a source in a call, in characters. Only the message size limits the paths in a load. */
    public static final int MAX_PATH_LENGTH = 4096;

    private Protocol() {}

    private static Map.Entry<String, Class<? extends Record>> method(String name, Class<? extends Record> parameters) {
        return Map.entry(INTERFACE + "." + name, parameters);
    }

    /** Returns the full name of the method that a request calls. */
    public static String method(Request request) {
        return method(request.getClass());
    }

    private static String method(Class<?> parameters) {
        String name = NAMES.get(parameters);
        if (name == null) {
            throw new IllegalArgumentException("no method has the parameters " + parameters);
        }
        return name;
    }

    /** Returns the name of a method without its interface, for messages. */
    public static String shortMethod(Request request) {
        String name = method(request);
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** Returns the interfaces of the daemon. */
    public static List<String> interfaces() {
        return List.of(SERVICE_INTERFACE, INTERFACE);
    }

    /** Returns the Varlink description of an interface. Fails with NOT_FOUND if there is none with this name. */
    public static String description(String interfaceName) {
        if (!interfaces().contains(interfaceName)) {
            throw Failure.of(ErrorCode.NOT_FOUND, "no such interface")
                    .with("interface", interfaceName)
                    .remedy("the daemon has " + String.join(" and ", interfaces()));
        }
        try (InputStream text = Protocol.class.getResourceAsStream(interfaceName + ".varlink")) {
            if (text == null) {
                throw new IllegalStateException("no resource " + interfaceName + ".varlink");
            }
            return new String(text.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the remedy for a daemon and a client of incompatible releases. */
    public static String useOneRelease() {
        return "use one release of Larder for both; or stop the daemon with larder stop --keep of its own release and run larder serve,"
                + " which takes its data over";
    }

    /** Returns the address of a socket file. Fails if its path is too long for the kernel. */
    public static UnixDomainSocketAddress address(Path socket) {
        int length = socket.toString().getBytes(StandardCharsets.UTF_8).length;
        if (length > StoreLayout.SOCKET_PATH_LIMIT) {
            throw Failure.of(ErrorCode.USAGE, "path of the control socket is too long")
                    .with("path", socket)
                    .with("bytes", length)
                    .with("limit", StoreLayout.SOCKET_PATH_LIMIT)
                    .remedy("choose a store with a shorter path");
        }
        return UnixDomainSocketAddress.of(socket);
    }
}
