/**
 * What is read over HTTP: {@link dev.larder.server.http.HttpEndpoint} answers those who know the token, each path a {@link
 * dev.larder.server.http.HttpResource}; {@link dev.larder.server.http.Exposition} has the metrics for Prometheus. The only package that
 * knows how HTTP is spoken, and Prometheus.
 */
@NullMarked
package dev.larder.server.http;

import org.jspecify.annotations.NullMarked;
