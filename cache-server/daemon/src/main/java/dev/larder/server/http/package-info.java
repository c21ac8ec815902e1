/**
 * Read-only access over HTTP: {@link dev.larder.server.http.HttpEndpoint} answers requests with the token, by one {@link
 * dev.larder.server.http.HttpResource} for each path; {@link dev.larder.server.http.Exposition} provides the metrics. The only package that
 * implements HTTP or uses Prometheus.
 */
@NullMarked
package dev.larder.server.http;

import org.jspecify.annotations.NullMarked;
