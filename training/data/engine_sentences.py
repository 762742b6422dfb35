# SPDX-License-Identifier: Apache-2.0
"""Sentences for the speech engines, put together from parts that fit each other whatever is drawn."""

# Per language: subjects, predicates, places, times; {n} becomes a number. A sentence takes one of each, in this order.
PARTS = {
    "en": (
        ["the old teacher", "my sister", "a young engineer", "the woman from the bank", "our new neighbour", "nobody here",
         "the captain of the ship", "his best friend", "the doctor on duty"],
        ["reads a long letter", "is looking for {n} blue chairs", "buys fresh bread and cheese", "explains the third question",
         "has lost the key", "would rather wait than argue", "counts exactly {n} steps", "writes down every word",
         "sings quietly", "opens the window"],
        ["in the garden", "at the station", "behind the church", "on the second floor", "near the river", "at home"],
        ["this morning", "at half past {h}", "in {n} minutes", "before the storm", "every Thursday", "as usual"]),
    "de": (
        ["der alte Lehrer", "meine Schwester", "eine junge Ärztin", "unser neuer Nachbar", "niemand", "der Kapitän",
         "die Frau am Schalter", "sein bester Freund"],
        ["liest einen langen Brief", "sucht {n} blaue Stühle", "kauft frisches Brot", "erklärt die dritte Frage", "findet den Schlüssel",
         "zählt genau {n} Schritte", "schreibt jedes Wort auf", "öffnet das Fenster", "singt ganz leise"],
        ["im Garten", "am Bahnhof", "hinter der Kirche", "im zweiten Stock", "unten am Fluss", "zu Hause"],
        ["heute Morgen", "um {h} Uhr", "vor dem Gewitter", "jeden Donnerstag", "wie immer", "schon zum {n}. Mal"]),
    "es": (
        ["el viejo maestro", "mi hermana", "una joven ingeniera", "nuestro vecino", "nadie", "el capitán del barco", "su mejor amigo"],
        ["lee una carta muy larga", "busca {n} sillas azules", "compra pan fresco", "explica la tercera pregunta", "encuentra la llave",
         "cuenta exactamente {n} pasos", "escribe cada palabra", "abre la ventana", "canta en voz baja"],
        ["en el jardín", "en la estación", "detrás de la iglesia", "en el segundo piso", "cerca del río", "en casa"],
        ["esta mañana", "a las {h} y media", "antes de la tormenta", "todos los jueves", "como siempre", "durante {n} minutos"]),
    "pt": (
        ["o velho professor", "a minha irmã", "uma jovem engenheira", "o nosso vizinho", "ninguém", "o capitão do navio"],
        ["lê uma carta muito longa", "procura {n} cadeiras azuis", "compra pão fresco", "explica a terceira pergunta", "encontra a chave",
         "conta exatamente {n} passos", "escreve cada palavra", "abre a janela", "canta em voz baixa"],
        ["no jardim", "na estação", "atrás da igreja", "no segundo andar", "perto do rio", "em casa"],
        ["esta manhã", "às {h} e meia", "antes da tempestade", "todas as quintas", "como sempre", "durante {n} minutos"]),
    "fr": (
        ["le vieux professeur", "ma sœur", "une jeune femme", "notre voisin", "le capitaine du bateau", "son meilleur ami"],
        ["lit une longue lettre", "cherche {n} chaises bleues", "achète du pain frais", "explique la troisième question", "trouve la clé",
         "compte exactement {n} pas", "écrit chaque mot", "ouvre la fenêtre", "chante à voix basse"],
        ["dans le jardin", "à la gare", "derrière l'église", "au deuxième étage", "près de la rivière", "à la maison"],
        ["ce matin", "à {h} heures", "avant l'orage", "tous les jeudis", "comme toujours", "pendant {n} minutes"]),
    "it": (
        ["il vecchio maestro", "mia sorella", "una giovane dottoressa", "il nostro vicino", "nessuno", "il capitano della nave"],
        ["legge una lunga lettera", "cerca {n} sedie blu", "compra pane fresco", "spiega la terza domanda", "trova la chiave",
         "conta esattamente {n} passi", "scrive ogni parola", "apre la finestra", "canta a bassa voce"],
        ["nel giardino", "alla stazione", "dietro la chiesa", "al secondo piano", "vicino al fiume", "a casa"],
        ["questa mattina", "alle {h} e mezza", "prima del temporale", "ogni settimana", "come sempre", "per {n} minuti"]),
    "hi": (
        ["मेरा भाई", "बूढ़ा अध्यापक", "हमारा पड़ोसी", "एक युवा डॉक्टर", "उसका दोस्त", "दुकानदार"],
        ["सुबह", "शाम को", "हर रोज़", "रात के {h} बजे", "बारिश से पहले", "हमेशा की तरह"],
        ["बगीचे में", "स्टेशन पर", "नदी के पास", "घर में", "दूसरी मंज़िल पर"],
        ["किताब पढ़ता है", "{n} कुर्सियाँ गिनता है", "रोटी खाता है", "खिड़की खोलता है", "एक लंबा पत्र लिखता है", "धीरे धीरे गाता है"]),
    "ru": (
        ["старый учитель", "моя сестра", "молодой врач", "наш новый сосед", "капитан корабля", "его лучший друг"],
        ["читает длинное письмо", "ищет синий стул", "покупает свежий хлеб", "объясняет третий вопрос", "открывает окно",
         "записывает каждое слово", "тихо поёт", "считает деньги"],
        ["в саду", "на вокзале", "за церковью", "на втором этаже", "у реки", "дома"],
        ["сегодня утром", "перед грозой", "каждый четверг", "как всегда", "до самого вечера"]),
    "fi": (
        ["vanha opettaja", "minun siskoni", "nuori lääkäri", "uusi naapuri", "laivan kapteeni", "hänen paras ystävänsä"],
        ["lukee pitkää kirjettä", "etsii sinistä tuolia", "ostaa tuoretta leipää", "selittää kolmannen kysymyksen", "avaa ikkunan",
         "kirjoittaa joka sanan", "laulaa hiljaa", "laskee rahoja"],
        ["puutarhassa", "asemalla", "kirkon takana", "toisessa kerroksessa", "joen rannalla", "kotona"],
        ["tänä aamuna", "ennen myrskyä", "joka torstai", "niin kuin aina", "kello {h}"]),
    "ca": (
        ["el vell mestre", "la meva germana", "una jove metgessa", "el nostre veí", "ningú", "el capità del vaixell"],
        ["llegeix una carta molt llarga", "busca {n} cadires blaves", "compra pa fresc", "explica la tercera pregunta", "troba la clau",
         "compta exactament {n} passos", "escriu cada paraula", "obre la finestra"],
        ["al jardí", "a l'estació", "darrere l'església", "al segon pis", "prop del riu", "a casa"],
        ["aquest matí", "abans de la tempesta", "cada dijous", "com sempre", "durant {n} minuts"]),
    "cs": (
        ["starý učitel", "moje sestra", "mladá lékařka", "náš nový soused", "kapitán lodi", "jeho nejlepší přítel"],
        ["čte dlouhý dopis", "hledá modrou židli", "kupuje čerstvý chléb", "vysvětluje třetí otázku", "otevírá okno",
         "zapisuje každé slovo", "tiše zpívá", "počítá peníze"],
        ["na zahradě", "na nádraží", "za kostelem", "ve druhém patře", "u řeky", "doma"],
        ["dnes ráno", "před bouřkou", "každý čtvrtek", "jako vždy", "až do večera"]),
}


def sentences(language, count, rng):
    """So many sentences as one text; ends in a full stop, a question mark or an exclamation mark."""
    texts = []
    for _ in range(count):
        words = " ".join(part[rng.integers(len(part))] for part in PARTS[language])
        words = words.format(n=rng.integers(2, 100), h=rng.integers(3, 13))
        texts.append(words[0].upper() + words[1:] + rng.choice([".", ".", ".", "?", "!"]))
    return " ".join(texts)
