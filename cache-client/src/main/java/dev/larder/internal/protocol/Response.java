package dev.larder.internal.protocol;

/**
 * What the daemon sends: {@link Welcome}, then any number of {@link Progress}, {@link ArrayRow}, {@link DaemonStatus}, {@link ErrorRow},
 * {@link RegionRow} and {@link Build}, then one {@link Done}; or a {@link Problem} at any time, which ends the exchange.
 */
public sealed interface Response
        permits Welcome, Progress, ArrayRow, DaemonStatus, ErrorRow, RegionRow, Build, Done, Problem {}
