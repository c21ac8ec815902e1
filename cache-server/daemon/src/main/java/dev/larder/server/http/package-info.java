/**
 * Metrics for Prometheus over HTTP: {@link dev.larder.server.http.MetricsEndpoint} answers, {@link
 * dev.larder.server.http.Exposition} says what. The only package that knows HTTP and Prometheus.
 */
@NullMarked
package dev.larder.server.http;

import org.jspecify.annotations.NullMarked;
