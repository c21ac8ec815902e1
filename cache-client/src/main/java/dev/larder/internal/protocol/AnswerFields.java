package dev.larder.internal.protocol;

import dev.larder.internal.protocol.Response.ServiceInfo;
import dev.larder.message.FieldName;
import dev.larder.message.OptionalField;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The parameters of any answer. The fields of its method or its error are set; all others are null. */
record AnswerFields(
        @OptionalField @Nullable Progress progress,
        @OptionalField @Nullable Done done,
        @OptionalField @Nullable Build build,
        @OptionalField @Nullable DaemonStatus status,
        @OptionalField @Nullable List<ArrayRow> arrays,
        @OptionalField @Nullable List<ErrorRow> errors,
        @OptionalField @Nullable List<RegionRow> regions,
        @OptionalField @Nullable List<Progress> loads,
        @OptionalField @Nullable String vendor,
        @OptionalField @Nullable String product,
        @OptionalField @Nullable String version,
        @OptionalField @Nullable String url,
        @OptionalField @Nullable List<String> interfaces,
        @OptionalField int protocol,
        @OptionalField int formatVersion,
        @OptionalField long pid,
        @OptionalField @Nullable String description,
        @OptionalField int code,
        @OptionalField @Nullable String message,
        @OptionalField @Nullable Map<String, String> values,
        @OptionalField @Nullable String remedy,
        @OptionalField @Nullable String trace,
        @OptionalField @Nullable String method,
        @OptionalField @FieldName("interface") @Nullable String interfaceName,
        @OptionalField @Nullable String parameter) {

    /** Returns the response with these fields, or null if there is none. */
    @Nullable
    Response response() { // no stream: the first lambda of a JVM takes 20 ms
        if (done != null || build != null || status != null) {
            return done != null ? done : build != null ? build : status;
        } else if (arrays != null) {
            return new Response.ArrayRows(arrays);
        } else if (errors != null) {
            return new Response.ErrorRows(errors);
        } else if (regions != null) {
            return new Response.RegionRows(regions);
        } else if (loads != null) {
            return new Response.LoadRows(loads);
        } else if (interfaces != null) {
            return info(interfaces);
        }
        return description == null ? progress : new Response.InterfaceDescription(description);
    }

    private ServiceInfo info(List<String> its) {
        return new ServiceInfo(
                text(vendor), text(product), text(version), text(url), its, protocol, formatVersion, pid);
    }

    private static String text(@Nullable String text) {
        return Objects.requireNonNullElse(text, "");
    }

    /** Returns the error with these fields. */
    Problem problem(String error) {
        if (code == 0) { // a standard error of Varlink, without our fields
            return Problem.ofName(error, text(method) + text(interfaceName) + text(parameter));
        }
        return new Problem(
                error, code, text(message), Objects.requireNonNullElse(values, Map.of()), text(remedy), text(trace));
    }
}
