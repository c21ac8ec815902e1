/**
 * The daemon's end of the control socket: {@link dev.larder.server.control.ControlServer} accepts, decodes and replies on
 * one thread; what a request means is up to a {@link dev.larder.server.control.RequestHandler}.
 */
@NullMarked
package dev.larder.server.control;

import org.jspecify.annotations.NullMarked;
