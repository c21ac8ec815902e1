/**
 * The devices of a loader and their selection: start at {@link dev.larder.loader.device.Device}.
 *
 * <p>Backends implement {@link dev.larder.loader.internal.device.DeviceBackend} and the interfaces that it returns. A {@link
 * dev.larder.loader.internal.device.DeviceProvider}, found by {@link java.util.ServiceLoader}, lists and opens them. No backend is loaded
 * before a caller requests a device.
 */
@NullMarked
package dev.larder.loader.device;

import org.jspecify.annotations.NullMarked;
