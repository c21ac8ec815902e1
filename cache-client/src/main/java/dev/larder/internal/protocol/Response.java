package dev.larder.internal.protocol;

import java.util.List;

/**
 * The answers of the daemon. {@link Progress} reports on a running call; any other answer ends it. Rows may need several
 * messages.
 *
 * <p>{@link AnswerFields} lists their fields in a message.
 */
public sealed interface Response
        permits Progress,
                Done,
                Build,
                DaemonStatus,
                Problem,
                Response.ArrayRows,
                Response.ErrorRows,
                Response.RegionRows,
                Response.LoadRows,
                Response.ServiceInfo,
                Response.InterfaceDescription {

    /** Arrays. */
    record ArrayRows(List<ArrayRow> arrays) implements Response {}

    /** Errors, the latest last. */
    record ErrorRows(List<ErrorRow> errors) implements Response {}

    /** Regions. */
    record RegionRows(List<RegionRow> regions) implements Response {}

    /** The progress of each load and build, named by its datasets. */
    record LoadRows(List<Progress> loads) implements Response {}

    /**
     * The daemon as a Varlink service.
     *
     * @param version the release of the daemon
     * @param protocol the number of the control plane
     * @param formatVersion of the store
     * @param pid the process of the daemon
     */
    record ServiceInfo(
            String vendor,
            String product,
            String version,
            String url,
            List<String> interfaces,
            int protocol,
            int formatVersion,
            long pid)
            implements Response {}

    /** The text of an interface. */
    record InterfaceDescription(String description) implements Response {}
}
