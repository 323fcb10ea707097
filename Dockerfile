FROM python:3.12-slim AS build
COPY . /source
RUN pip install --no-cache-dir --prefix=/installed '/source[controller]'

FROM python:3.12-slim
COPY --from=build /installed /usr/local
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["dynamo-controller"]
