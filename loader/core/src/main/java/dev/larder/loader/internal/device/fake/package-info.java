/** A device in plain Java for tests of trainers and the loader: start at {@link dev.larder.loader.internal.device.fake.FakeDevice}. */
@NullMarked
package dev.larder.loader.internal.device.fake;

import org.jspecify.annotations.NullMarked;
