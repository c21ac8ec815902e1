/**
 * The daemon's end of the control socket: {@link dev.larder.server.control.ControlServer} accepts, decodes and replies on one thread; a
 * {@link dev.larder.server.control.RequestHandler} handles the requests.
 */
@NullMarked
package dev.larder.server.control;

import org.jspecify.annotations.NullMarked;
